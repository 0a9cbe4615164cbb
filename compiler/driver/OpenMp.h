// How long threads of the OpenMP library wait for each other without giving up their processor, and on which they run.
#pragma once

#include <sched.h>

#include <vector>

namespace tbem::driver {

/// GNU's OpenMP lets a thread spin for about a millisecond at the end of each parallel loop. On a processor that another program
/// wants as well, every loop then costs a time slice: two measurements side by side on two cores took 33 times as long as one
/// alone, and 4 times with this limit, which alone costs nothing that could be measured (resnet18 at 32x32, two threads). The
/// library reads its variable when it is loaded: this starts the program anew, once, with `argv` and GOMP_SPINCOUNT set; it
/// returns where the variable (or OMP_WAIT_POLICY) is set already. Programs started from this one inherit it.
void limitSpinning(char** argv);

/// While it lives, this thread may run on all processors that OpenMP has. Where its threads are bound (OMP_PROC_BIND, OMP_PLACES)
/// the library binds the first one, to a single place, as soon as it is loaded; a program that is started from it would inherit
/// that one place, and find one processor. To be made around each start of another program. Best effort: where the system
/// refuses, the other program has fewer processors.
class AllProcessors {
public:
  AllProcessors();
  ~AllProcessors();
  AllProcessors(const AllProcessors&) = delete;
  AllProcessors& operator=(const AllProcessors&) = delete;

private:
  std::vector<cpu_set_t> before;  ///< where it was bound; empty: it was not
};

}  // namespace tbem::driver
