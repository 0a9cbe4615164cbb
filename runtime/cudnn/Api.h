// The part of cuDNN 9's graph interface that is used here: prototypes, and the numbers of its enumerations, so that nothing of
// cuDNN is needed to build. Source: NVIDIA cuDNN documentation, "cuDNN Graph Library" (cudnn_graph.h); a test compares the
// numbers with that header where it is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tbem::cudnn::api {

using Status = int;  ///< 0: success
using Handle = void*;

enum Descriptor : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristic = 4,
  kExecutionPlan = 5,
  kKnobChoice = 7,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kDeviceProperties = 38,
};

enum Attribute : int {
  kConvolutionComputeType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kHeuristicDevice = 204,
  kConfigEngine = 300,
  kConfigKnobs = 302,
  kConfigWorkspace = 303,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kKnobType = 600,
  kKnobValue = 601,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataAlpha = 706,
  kDataBeta = 707,
  kDataConvolution = 708,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterAlpha = 712,
  kFilterBeta = 713,
  kFilterConvolution = 714,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineNumericalNote = 1303,
  kEngineBehaviourNote = 1305,
  kDeviceJson = 2702,
};

/// Of an attribute's value.
enum Type : int {
  kHandle = 0,
  kDataType = 1,
  kInt64 = 3,
  kFloat = 4,
  kPointer = 6,
  kMode = 7,
  kHeuristic = 8,
  kKnob = 9,
  kNumericalNote = 11,
  kDescriptor = 15,
  kBehaviourNote = 19,
  kChar = 24,
};

enum Data : int { kF32 = 0, kF16 = 2, kBf16 = 9 };
enum Heuristic : int { kFallback = 2, kModeA = 3 };
constexpr int kCrossCorrelation = 1;
/// Largest numbers of the lists that are read, in elements.
constexpr std::int64_t kMostKnobs = 64, kMostNotes = 32, kMostEngines = 128;

/// The functions, as the library exports them.
struct Functions {
  std::size_t (*version)() = nullptr;
  const char* (*errorString)(Status) = nullptr;
  void (*lastError)(char* text, std::size_t size) = nullptr;
  Status (*create)(int type, void** descriptor) = nullptr;
  Status (*destroy)(void* descriptor) = nullptr;
  Status (*finalize)(void* descriptor) = nullptr;
  Status (*set)(void* descriptor, int attribute, int type, std::int64_t count, const void* values) = nullptr;
  Status (*get)(const void* descriptor, int attribute, int type, std::int64_t room, std::int64_t* count, void* values) = nullptr;
  Status (*createHandle)(Handle* handle) = nullptr;
  Status (*destroyHandle)(Handle handle) = nullptr;
  Status (*setStream)(Handle handle, void* stream) = nullptr;
  Status (*execute)(Handle handle, void* plan, void* pack) = nullptr;
};

}  // namespace tbem::cudnn::api
