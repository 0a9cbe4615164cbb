// How long threads of the OpenMP library wait for each other without giving up their processor, and on which they run.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

namespace tbem::driver {

/// GNU's OpenMP lets a thread spin for about a millisecond at the end of each parallel loop, and what it spins away is taken off
/// its share of a processor that another program wants as well: every loop then costs a time slice. On a two-core AMD EPYC beside
/// two busy compilers a train step of resnet18 (batch 4, 32x32) on two threads takes 86 ms with 10 000 turns, 18 with 1000, 12
/// with 100; alone 6.2, 6.4 and 11.7 ms, for with so few turns most loops wake a thread. So 1000. The library reads its variable
/// when it is loaded.
///
/// The variable for a program that is started from here; empty where it (or OMP_WAIT_POLICY) is set already.
std::vector<std::string> waitingThreads();
/// The names of variables that have the value which tbemc gives them (tools/tbemc/Process.h): for programs that are not ours.
std::vector<std::string> waitingNames();

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
