#include "runtime/backends/cuda/device/Recording.h"

#include "runtime/backends/cuda/device/Launch.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"

#include <array>
#include <utility>
#include <vector>

namespace tbem::cuda {

namespace {

constexpr const char* kRecording = "recording";
constexpr const char* kPreparing = "preparing what was recorded";

/// What was kept between two moments at which a condition began or ended.
struct Piece {
  GraphHandle graph = nullptr;
  DevicePointer count = 0;  ///< of its condition; 0: it is always done
};

/// The recording at hand.
struct Pieces {
  std::vector<Piece> list;
  DevicePointer count = 0;  ///< of the piece that is being captured
};

Pieces& pieces() {
  static Pieces all;
  return all;
}

tbem_status beginPiece(const Device& device, DevicePointer count) {
  constexpr int kRelaxed = 2;  // code may be loaded meanwhile
  pieces().count = count;
  return check(device, device.driver->captureBegin(device.stream, kRelaxed), kRecording);
}

/// Nothing is done for a piece without work.
tbem_status endPiece(const Device& device) {
  Piece piece{nullptr, std::exchange(pieces().count, 0)};
  std::size_t nodes = 0;
  int result = device.driver->captureEnd(device.stream, &piece.graph);
  if (result == 0) result = device.driver->graphNodes(piece.graph, nullptr, &nodes);
  if (result == 0 && nodes != 0) {
    pieces().list.push_back(piece);
  } else if (piece.graph != nullptr) {
    (void)device.driver->graphDestroy(piece.graph);
  }
  return check(device, result, kRecording);
}

/// A graph of pieces behind each other, some of them conditional.
class Assembly {
public:
  explicit Assembly(const Device& device) : device(device), driver(*device.driver) {}
  ~Assembly() {
    if (graph != nullptr) (void)driver.graphDestroy(graph);
  }
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  /// A result of the driver's.
  int of(const std::vector<Piece>& all) {
    int result = driver.graphCreate(&graph, 0);
    for (const Piece& piece : all) {
      if (result == 0) result = piece.count == 0 ? add(piece.graph) : addConditional(piece);
    }
    return result;
  }
  GraphHandle graph = nullptr;

private:
  int add(GraphHandle child) {
    GraphNodeHandle node = nullptr;
    const int result = driver.graphAddChild(&node, graph, before(), beforeCount(), child);
    last = node;
    return result;
  }
  int addConditional(const Piece& piece) {
    constexpr unsigned kEachTime = 1;  // CU_GRAPH_COND_ASSIGN_DEFAULT: no, until the kernel says otherwise
    std::uint64_t handle = 0;
    if (const int result = driver.conditionCreate(&handle, graph, device.context, 0, kEachTime)) return result;
    if (const int result = addQuestion(handle, piece.count)) return result;
    ConditionalNode node{.handle = handle, .context = device.context};
    GraphNodeHandle made = nullptr;
    if (const int result = driver.graphAdd(&made, graph, before(), nullptr, beforeCount(), &node)) return result;
    last = made;
    GraphNodeHandle inside = nullptr;
    return driver.graphAddChild(&inside, *node.bodies, nullptr, 0, piece.graph);
  }
  int addQuestion(std::uint64_t handle, DevicePointer count) {
    std::array<void*, 2> arguments{&handle, &count};
    KernelNode kernel{.arguments = arguments.data()};
    if (prepareKernel({"Condition", "tbem_Condition"}, kernel.function) != TBEM_OK) return kNotSupported;
    GraphNodeHandle node = nullptr;
    const int result = driver.graphAddKernel(&node, graph, before(), beforeCount(), &kernel);
    last = node;
    return result;
  }
  const GraphNodeHandle* before() const { return last != nullptr ? &last : nullptr; }
  std::size_t beforeCount() const { return last != nullptr ? 1 : 0; }

  static constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED
  const Device& device;
  const Driver& driver;
  GraphNodeHandle last = nullptr;
};

tbem_status instantiate(const Device& device, GraphHandle graph, GraphExecHandle& recording) {
  const Driver& driver = *device.driver;
  if (const tbem_status status = check(device, driver.graphInstantiate(&recording, graph, 0), kPreparing)) return status;
  // Else the first replay does it, and takes the memory then.
  return check(device, driver.graphUpload(recording, device.stream), kPreparing);
}

/// A driver that does not take conditions is none that failed.
tbem_status withConditions(const Device& device, GraphExecHandle& recording) {
  Assembly assembly(device);
  tbem_status status = check(device, assembly.of(pieces().list), kPreparing);
  if (status == TBEM_OK) status = instantiate(device, assembly.graph, recording);
  return status == TBEM_FAILED ? fail(TBEM_UNSUPPORTED, lastErrorText()) : status;
}

}  // namespace

tbem_status beginRecording(const Device& device) { return beginPiece(device, 0); }

tbem_status beginCondition(const Device& device, const void* count) {
  if (device.driver->conditionCreate == nullptr || device.driver->graphAdd == nullptr)
    return fail(TBEM_UNSUPPORTED, "cuda: the driver has no conditional nodes: CUDA 12.3 or later is needed");
  const tbem_status status = endPiece(device);
  return status != TBEM_OK ? status : beginPiece(device, reinterpret_cast<DevicePointer>(count));
}

tbem_status endCondition(const Device& device) {
  const tbem_status status = endPiece(device);
  return status != TBEM_OK ? status : beginPiece(device, 0);
}

tbem_status endRecording(const Device& device, GraphExecHandle& recording) {
  recording = nullptr;
  tbem_status status = endPiece(device);
  std::vector<Piece>& list = pieces().list;
  if (status == TBEM_OK) {
    const Booking booking(device, &Ledger::recordings);
    const bool isPlain = list.size() == 1 && list.front().count == 0;
    status = isPlain ? instantiate(device, list.front().graph, recording) : withConditions(device, recording);
  }
  for (const Piece& piece : list) (void)device.driver->graphDestroy(piece.graph);
  list.clear();
  return status;
}

}  // namespace tbem::cuda
