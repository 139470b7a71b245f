#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""openmm_app.py prepare FOLDER PDBS | run FOLDER SYSTEM SECONDS: one of OpenMM's
own benchmarks, as openmm_bench.py runs it.

`prepare` makes the systems on the CPU and writes them down, since a force
field takes longer to read than a benchmark to run.  `run` takes one on CUDA in
single precision, prints the energy where it starts, and how many ns a
day it makes.  Kernels are compiled afresh: OpenMM keeps them in $TMPDIR.
"""
import gzip
import json
import os
import sys
import time

import openmm
from openmm import app, unit

PLAIN, CUBE = "5dfr_minimized.pdb", "5dfr_solv-cube_equil.pdb"
# As OpenMM's examples/benchmarks/benchmark.py has them; "large" is the cube of
# "pme" four times, about 94,000 atoms.
SYSTEMS = {
    "gbsa": (PLAIN, ("amber99sb.xml", "amber99_obc.xml"), (1, 1, 1),
             {"nonbondedMethod": app.CutoffNonPeriodic, "nonbondedCutoff": 2}),
    "rf": (CUBE, ("amber99sb.xml", "tip3p.xml"), (1, 1, 1),
           {"nonbondedMethod": app.CutoffPeriodic, "nonbondedCutoff": 1}),
    "pme": (CUBE, ("amber99sb.xml", "tip3p.xml"), (1, 1, 1),
            {"nonbondedMethod": app.PME, "nonbondedCutoff": 0.9}),
    "large": (CUBE, ("amber99sb.xml", "tip3p.xml"), (2, 2, 1),
              {"nonbondedMethod": app.PME, "nonbondedCutoff": 0.9}),
    "amoebapme": (CUBE, ("amoeba2009.xml",), (1, 1, 1),
                  {"nonbondedMethod": app.PME, "nonbondedCutoff": 0.7,
                   "vdwCutoff": 0.9, "ewaldErrorTolerance": 0.00075,
                   "mutualInducedTargetEpsilon": 1e-5,
                   "polarization": "mutual"}),
}
# Steps until what was put back has been tried: each by itself, 104 launches, then
# by the program's time, up to six rounds of 48 stretches of 12 launches; and until
# the times are there.
TRIALS = 104 + 6 * 48 * 12 + 64
GROUPED = (openmm.AmoebaMultipoleForce, openmm.AmoebaVdwForce)


def tiled(pdb, times):
    """The box, so many times along each axis."""
    if times == (1, 1, 1):
        return pdb.topology, pdb.positions
    box = pdb.topology.getUnitCellDimensions()
    model = app.Modeller(app.Topology(), [] * unit.nanometer)
    for x in range(times[0]):
        for y in range(times[1]):
            for z in range(times[2]):
                by = openmm.Vec3(x * box[0]._value, y * box[1]._value,
                                 z * box[2]._value)
                model.add(pdb.topology,
                          [p + by * unit.nanometer for p in pdb.positions])
    model.topology.setUnitCellDimensions(
        openmm.Vec3(*(t * b._value for t, b in zip(times, box))) *
        unit.nanometer)
    return model.topology, model.positions


def prepare(folder, pdbs):
    os.makedirs(os.path.join(folder, "systems"), exist_ok=True)
    for name, (pdb, fields, times, more) in SYSTEMS.items():
        path = os.path.join(folder, "systems", name + ".json.gz")
        if os.path.exists(path):
            continue
        topology, positions = tiled(app.PDBFile(os.path.join(pdbs, pdb)),
                                    times)
        if name != "amoebapme":
            more = {**more, "constraints": app.HBonds,
                    "hydrogenMass": 1.5 * unit.amu}
        system = app.ForceField(*fields).createSystem(topology, **more)
        for force in system.getForces():
            if isinstance(force, GROUPED):
                force.setForceGroup(1)
        with gzip.open(path + ".part", "wt") as file:
            json.dump({"system": openmm.XmlSerializer.serialize(system),
                       "positions": [[p.x, p.y, p.z] for p in
                                     positions.value_in_unit(unit.nanometer)]},
                      file)
        os.rename(path + ".part", path)
        print(name, system.getNumParticles(), "atoms", flush=True)


def integrator_of(name):
    if name == "amoebapme":
        made = openmm.MTSLangevinIntegrator(
            300, 1, 0.002, [(0, 2), (1, 1)])
    else:
        made = openmm.LangevinMiddleIntegrator(
            300, 91 if name == "gbsa" else 1, 0.004)
    made.setRandomNumberSeed(1)
    made.setConstraintTolerance(1e-5)
    return made


def energy_of(context):
    state = context.getState(energy=True)
    return state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def run(folder, name, seconds):
    with gzip.open(os.path.join(folder, "systems", name + ".json.gz"),
                   "rt") as file:
        kept = json.load(file)
    platform = openmm.Platform.getPlatform(
        os.environ.get("OPENMM_PLATFORM", "CUDA"))
    made = integrator_of(name)
    properties = {"Precision": "single", "DeterministicForces":
                  os.environ.get("OPENMM_DETERMINISTIC", "false")}
    context = openmm.Context(
        openmm.XmlSerializer.deserialize(kept["system"]), made, platform,
        properties if platform.getName() == "CUDA" else {})
    context.setPositions([openmm.Vec3(*p) for p in kept["positions"]])
    context.setVelocitiesToTemperature(300, 1)
    start = energy_of(context)
    made.step(20)
    later = energy_of(context)
    if seconds:
        made.step(TRIALS)
        energy_of(context)
    begun = time.perf_counter()
    steps = 0
    while True:
        made.step(100 if seconds else 20)
        energy_of(context)
        steps += 100 if seconds else 20
        taken = time.perf_counter() - begun
        if taken >= seconds:
            break
    step_ns = made.getStepSize().value_in_unit(unit.nanosecond)
    print(json.dumps({"system": name, "energy": start, "later": later, "steps": steps,
                      "ns_per_day": steps * step_ns * 86400 / taken}))


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(sys.argv[2], sys.argv[3])
    else:
        run(sys.argv[2], sys.argv[3], float(sys.argv[4]))
