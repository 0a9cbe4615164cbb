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
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristic = 4,
  kExecutionPlan = 5,
  kKnobChoice = 7,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kMatmulOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshapeOperation = 31,
  kDeviceProperties = 38,
};

enum Attribute : int {
  kPointwiseMode = 0,
  kPointwiseComputeType = 1,
  kPointwiseAxis = 9,
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
  kPointwiseOf = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineNumericalNote = 1303,
  kEngineBehaviourNote = 1305,
  kMatmulComputeType = 1500,
  kMatmulA = 1520,
  kMatmulB = 1521,
  kMatmulC = 1522,
  kMatmulOf = 1523,
  kReductionOperator = 1600,
  kReductionComputeType = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionOf = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
  kDeviceJson = 2702,
};

/// Of an attribute's value.
enum Type : int {
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kPointer = 6,
  kMode = 7,
  kHeuristic = 8,
  kKnob = 9,
  kNumericalNote = 11,
  kPointwiseKind = 14,
  kDescriptor = 15,
  kReductionKind = 18,
  kBehaviourNote = 19,
  kChar = 24,
};

enum Data : int { kF32 = 0, kF16 = 2, kI32 = 4, kBf16 = 9, kBool = 11 };
/// Modes of pointwise operations: y = x op b, op x, the number along an axis, t ? x : b.
enum Mode : int {
  kAdd = 0,
  kMultiply = 1,
  kDivide = 6,
  kSubtract = 9,
  kExponential = 13,
  kLogarithm = 15,
  kGreaterOrEqual = 303,
  kGenerateIndex = 501,
  kSelect = 601,
};
enum Reduce : int { kSum = 0, kMaximum = 3 };
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
