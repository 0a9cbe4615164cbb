// In which order a training reads its examples. Every order is a function of (seed, epoch) alone: the same for any number of
// threads, and after a restart in the middle of an epoch.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::train {

/// A permutation of 0 .. count - 1: Fisher & Yates' shuffle (Knuth, The Art of Computer Programming, volume 2, algorithm 3.4.2P),
/// from the last place down; place i is swapped with philoxBelow(philoxAt(seed, kShuffleStream, epoch, i), i + 1).
std::vector<std::int64_t> shuffled(std::uint64_t seed, std::uint32_t epoch, std::int64_t count);
constexpr std::uint64_t kShuffleStream = 0x73687566666C65;  // "shuffle"

/// How many of `count` examples are held out: floor(share * count) of them, at least one where share > 0.
std::int64_t heldOut(std::int64_t count, double share);
/// The examples held out for validation, and the others: the former are the first of the order of "epoch" 2^32 - 1. Both
/// ascending.
struct Partition {
  std::vector<std::int64_t> train, validation;
};
Partition partition(std::uint64_t seed, std::int64_t count, double share);

}  // namespace tbem::train
