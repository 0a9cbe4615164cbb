// From groups to a program: its steps, buffers and the plan of its arena. Allocate.cpp writes the program; Lifetimes.cpp says
// from which step to which each memory is needed, and which memories may be one. Internal to this folder.
#pragma once

#include "compiler/lower/Lowering.h"
#include "compiler/lower/memory/Coalesce.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::estimate {

class Allocator {
public:
  Allocator(Lowering& s, Program& p)
      : state(s), program(p), bufferOf(s.versions.size(), kNoBuffer), lives(s.memories.size()), usesOf(s.memories.size()) {}

  bool run();

private:
  struct Life {
    std::uint32_t first = UINT32_MAX, last = 0;
    std::uint32_t shares = kNone;  ///< memory whose allocation it takes over
    std::uint32_t allocation = kNone;
    bool used = false;
    void at(std::uint32_t step) {
      first = std::min(first, step);
      last = std::max(last, step);
      used = true;
    }
  };
  struct Scatter {
    std::uint32_t step;
    const Item* item;
  };
  struct LoopUse {
    std::uint32_t step;
    std::vector<std::uint32_t> reads, writes;
  };
  struct Workspace {
    std::vector<BufferId> buffers;  ///< that share it
    std::uint32_t first, last;      ///< steps
    std::uint64_t bytes;
  };

  // Allocate.cpp
  void sortGroups();
  void findStored();
  BufferId buffer(std::uint32_t version);
  bool addCall(const Group& group, std::uint32_t step);
  void addWorkspace(NativeCall& call, std::uint32_t step, std::uint64_t bytes);
  bool addLoop(const Group& group, std::uint32_t step);
  BufferId use(std::uint32_t version, std::uint32_t step, bool atSameElement = false, bool rowsOnly = false);
  void makeAllocations();
  void bufferForPersistent(std::uint32_t memory);
  void nameBuffers();
  void listBranches();
  void markMicroBatches();
  void listMicroBatches();
  void place();

  // Chunks.cpp
  struct Segment {
    std::uint32_t first, last, branch;
  };
  void findChunks();
  void addChunks(Segment segment);
  std::uint32_t ownerOf(BufferId buffer) const;
  bool isInside(const Segment& segment, BufferId buffer) const;
  bool isList(std::uint32_t branch, BufferId buffer) const;
  bool fits(const Segment& segment, const Step& step) const;
  bool movesFit(const Segment& segment, const NativeCall& call) const;
  bool loopFits(const Segment& segment, const FusedLoop& loop) const;
  /// Native code takes such a loop's elements, of the whole batch, as one piece: it has no variable for the sample.
  static bool hasOneElementASample(const FusedLoop& loop);
  std::int64_t chunkSize(const Segment& segment) const;
  BufferId copyOfList(const Chunk& chunk, BufferId list);
  void placeChunk(const Segment& segment, const Chunk& chunk);
  void listRows(Chunk& chunk);
  SizedCall sizedCall(const NativeCall& call) const;
  bool sizeCalls(const Chunk& chunk, bool change);
  void setWorkspace(NativeCall& call, std::uint32_t step, std::uint64_t bytes, std::uint64_t part);
  void shareWorkspace(const Chunk& chunk);

  // Lifetimes.cpp
  void noteCopy(const Item& item, std::uint32_t step);
  void measureLives();
  void coalesce();
  bool scatterInLoop(const Scatter& scatter);
  void dropSteps(const std::vector<bool>& gone);
  void shareInPlace();
  void vectorsAhead();
  bool canTake(const LoopUse& loop, const FusedLoop& code, std::uint32_t source, std::size_t input, std::uint32_t write);
  static bool sameElement(const FusedLoop& code, std::size_t input, const tbem_operand& operand);
  std::uint32_t owner(std::uint32_t memory) const;

  Lowering& state;
  Program& program;
  std::vector<std::uint32_t> order;
  std::vector<bool> stored;
  std::vector<BufferId> bufferOf;              ///< by version
  std::vector<std::uint32_t> versionOf;        ///< by buffer; kNone for a workspace
  std::vector<Life> lives;                     ///< by memory
  std::vector<std::vector<MemoryUse>> usesOf;  ///< by memory, where there are gates
  std::vector<CopyStep> copies;
  std::vector<Scatter> scatters;
  std::vector<LoopUse> loopReads;
  std::vector<Workspace> workspaces;
};

}  // namespace tbem::estimate
