// How long the card is at work, by its own clock (CUDA Driver API, "Event Management").
#pragma once

#include "tbem/backend.h"

#include <cstdint>

namespace tbem::cuda {

/// Takes what the timer needs of the card, which it else does when it is first used. One timer a process.
tbem_status openTimer();
/// Puts a mark behind all that was asked of the card so far. Not while work is recorded.
tbem_status startTimer();
/// Another mark, behind what was asked since. Nobody waits for it here.
tbem_status stopTimer();
/// Seconds from the one mark to the other, once the card has got there. TBEM_INVALID: there are none.
tbem_status readTimer(double& seconds);
/// Gives back what the timer takes of the card.
void endTimer();

/// Bytes of the cache through which all of the card's memory is read and written (L2). 0: there is no card, or it does not say.
std::uint64_t cacheBytes();

}  // namespace tbem::cuda
