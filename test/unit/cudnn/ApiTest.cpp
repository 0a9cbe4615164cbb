// Our numbers of cuDNN's enumerations against its own header, where that is installed.
#include "runtime/cudnn/Api.h"
#include "runtime/cudnn/Convolution.h"

#include <gtest/gtest.h>

#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>

namespace tbem::cudnn {
namespace {

TEST(CudnnApi, NumbersAreThoseOfTheHeader) {
  const std::pair<int, int> pairs[] = {
      {api::kConvolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR},
      {api::kEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR},
      {api::kEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR},
      {api::kEngineHeuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR},
      {api::kKnobChoice, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR},
      {api::kConvolutionForward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR},
      {api::kConvolutionBackwardFilter, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR},
      {api::kConvolutionBackwardData, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR},
      {api::kOperationGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {api::kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR},
      {api::kDeviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR},
      {api::kConvolutionComputeType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE},
      {api::kConvolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE},
      {api::kConvolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS},
      {api::kConvolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES},
      {api::kConvolutionPostPaddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS},
      {api::kConvolutionPrePaddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS},
      {api::kConvolutionSpatialDims, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS},
      {api::kHeuristicMode, CUDNN_ATTR_ENGINEHEUR_MODE},
      {api::kHeuristicGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH},
      {api::kHeuristicResults, CUDNN_ATTR_ENGINEHEUR_RESULTS},
      {api::kHeuristicDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP},
      {api::kConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE},
      {api::kConfigKnobs, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES},
      {api::kConfigWorkspace, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE},
      {api::kKnobType, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE},
      {api::kKnobValue, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE},
      {api::kForwardAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA},
      {api::kForwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {api::kForwardConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC},
      {api::kForwardW, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
      {api::kForwardX, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X},
      {api::kForwardY, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
      {api::kDataAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA},
      {api::kDataBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {api::kDataConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC},
      {api::kDataW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
      {api::kDataDx, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
      {api::kDataDy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
      {api::kFilterAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA},
      {api::kFilterBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
      {api::kFilterConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC},
      {api::kFilterDw, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
      {api::kFilterX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X},
      {api::kFilterDy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
      {api::kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS},
      {api::kTensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT},
      {api::kTensorType, CUDNN_ATTR_TENSOR_DATA_TYPE},
      {api::kTensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS},
      {api::kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES},
      {api::kTensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID},
      {api::kEngineIndex, CUDNN_ATTR_ENGINE_GLOBAL_INDEX},
      {api::kEngineNumericalNote, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE},
      {api::kEngineBehaviourNote, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE},
      {api::kDeviceJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION},
      {api::kDataType, CUDNN_TYPE_DATA_TYPE},
      {api::kInt64, CUDNN_TYPE_INT64},
      {api::kFloat, CUDNN_TYPE_FLOAT},
      {api::kMode, CUDNN_TYPE_CONVOLUTION_MODE},
      {api::kHeuristic, CUDNN_TYPE_HEUR_MODE},
      {api::kKnob, CUDNN_TYPE_KNOB_TYPE},
      {api::kNumericalNote, CUDNN_TYPE_NUMERICAL_NOTE},
      {api::kDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {api::kBehaviourNote, CUDNN_TYPE_BEHAVIOR_NOTE},
      {api::kChar, CUDNN_TYPE_CHAR},
      {api::kF32, CUDNN_DATA_FLOAT},
      {api::kF16, CUDNN_DATA_HALF},
      {api::kBf16, CUDNN_DATA_BFLOAT16},
      {api::kFallback, CUDNN_HEUR_MODE_FALLBACK},
      {api::kModeA, CUDNN_HEUR_MODE_A},
      {api::kCrossCorrelation, CUDNN_CROSS_CORRELATION},
      {static_cast<int>(Numerical::TensorCore), CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
      {static_cast<int>(Numerical::DownConvertInputs), CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
      {static_cast<int>(Numerical::ReducedPrecisionReduction), CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION},
      {static_cast<int>(Numerical::Fft), CUDNN_NUMERICAL_NOTE_FFT},
      {static_cast<int>(Numerical::Nondeterministic), CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
      {static_cast<int>(Numerical::Winograd), CUDNN_NUMERICAL_NOTE_WINOGRAD},
      {static_cast<int>(Behaviour::CompiledAtRunTime), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION},
  };
  for (const auto& [ours, theirs] : pairs) EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace tbem::cudnn
#endif
