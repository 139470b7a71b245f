/* SPDX-License-Identifier: MIT */
/*
 * fake_kernel: the faults of the kernel in fake_kernel.cu, as the fake driver
 * commits them: values of its parameter FAULT.
 */
#ifndef SHMT_TESTS_FAKE_KERNEL_H
#define SHMT_TESTS_FAKE_KERNEL_H

enum fake_fault {
    FAULT_NONE, FAULT_ILLEGAL, FAULT_TRAP, FAULT_WATCHDOG, FAULT_PAST,
    FAULT_BEFORE, FAULT_INPUT, FAULT_NAN, FAULT_ONE, FAULT_UNWRITTEN,
    FAULT_UNSTABLE, FAULT_HANG, FAULT_PRINT, FAULT_WORKSPACE,
    FAULT_MIXED, FAULT_COUNT
};

#endif
