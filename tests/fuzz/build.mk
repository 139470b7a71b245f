# SPDX-License-Identifier: MIT
# The fuzz targets with libFuzzer, for run.sh, which says TARGETS, SANITIZERS
# and BUILD, the folder of the configured build (config.h, where CUDA is).
# Run in the folder that the objects go to.
ROOT := $(realpath $(dir $(lastword $(MAKEFILE_LIST)))../..)
VPATH = $(ROOT)
CC = clang
CUDA_DIR := $(shell sed -n 's/^CUDA_DIR = //p' $(BUILD)/Makefile)
CFLAGS = -std=gnu17 -g -O1 -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,$(SANITIZERS) -fno-sanitize-recover=all
CPPFLAGS = -DHAVE_CONFIG_H -DSHMT_PKGDATADIR='"/nowhere"' -MMD -MP \
	-I$(BUILD) -I$(ROOT)/src -I$(ROOT) -isystem $(CUDA_DIR)/include
LIBS = -lyaml -ljansson -lz -lm -lpthread -ldl

# Of what libraries write that were not built for it (msan.c).
WRAPPED := $(if $(findstring memory,$(SANITIZERS)),yaml_parser_initialize \
	yaml_parser_parse inflateInit2_ inflate)
LDFLAGS := $(WRAPPED:%=-Wl,--wrap=%)

SOURCES := $(shell cd $(ROOT) && ls src/base/*.c src/expr/*.c src/yaml/*.c \
	src/space/*.c src/kernel/*.c src/device/*.c src/record/*.c \
	src/data/*.c src/source/*.c src/gpu/*.c src/target/*.c src/exchange/*.c src/profile/*.c) \
	tests/fuzz/files.c tests/fuzz/kernel.c $(if $(WRAPPED),tests/fuzz/msan.c)
OBJECTS = $(SOURCES:.c=.o)

all: $(TARGETS)
$(TARGETS): %: tests/fuzz/%.o libcode.a
	$(CC) -fsanitize=fuzzer,$(SANITIZERS) $(LDFLAGS) -o $@ $< libcode.a $(LIBS)
libcode.a: $(OBJECTS)
	rm -f $@
	ar rcs $@ $(OBJECTS)
%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
-include $(OBJECTS:.o=.d) $(TARGETS:%=tests/fuzz/%.d)
.SECONDARY:
