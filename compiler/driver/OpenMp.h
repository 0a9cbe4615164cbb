// How long threads of the OpenMP library wait for each other without giving up their processor.
#pragma once

namespace tbem::driver {

/// GNU's OpenMP lets a thread spin for about a millisecond at the end of each parallel loop. On a processor that another program
/// wants as well, every loop then costs a time slice: two measurements side by side on two cores took 33 times as long as one
/// alone, and 4 times with this limit, which alone costs nothing that could be measured (resnet18 at 32x32, two threads). The
/// library reads its variable when it is loaded: this starts the program anew, once, with `argv` and GOMP_SPINCOUNT set; it
/// returns where the variable (or OMP_WAIT_POLICY) is set already. Programs started from this one inherit it.
void limitSpinning(char** argv);

}  // namespace tbem::driver
