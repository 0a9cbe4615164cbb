// The tables of torchvision's names (stdlib/names/torchvision): each weight and buffer of a network is given once, in its shape.
//
// torchvision/NAME.txt are names and shapes of its state_dict, written by list.py there. Its modules are registered in the order
// in which weights are defined here: what the tables pair is held against that order, which the tables do not know.
#include "compiler/pipeline/Stages.h"
#include "compiler/run/weights/WeightNames.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace tbem::driver {
namespace {

struct Case {
  const char* expression;
  const char* table;
  const char* list;
};
const Case kCases[] = {
    {"alexnet()", "alexnet", "alexnet"},
    {"vgg(depth: 11)", "vgg", "vgg11"},
    {"vgg(depth: 16, norm: true)", "vgg", "vgg16_bn"},
    {"resnet(depth: 18)", "resnet", "resnet18"},
    {"resnet(depth: 50)", "resnet", "resnet50"},
    {"resnext()", "resnext", "resnext50_32x4d"},
    {"wide_resnet()", "wide_resnet", "wide_resnet50_2"},
    {"mobilenet_v2()", "mobilenet_v2", "mobilenet_v2"},
    {"mobilenet_v3()", "mobilenet_v3", "mobilenet_v3_large"},
    {"mobilenet_v3(small: true)", "mobilenet_v3", "mobilenet_v3_small"},
    {"efficientnet()", "efficientnet", "efficientnet_b0"},
    {"densenet()", "densenet", "densenet121"},
    {"squeezenet(version: 1)", "squeezenet", "squeezenet1_0"},
    {"squeezenet()", "squeezenet", "squeezenet1_1"},
    {"googlenet()", "googlenet", "googlenet"},
    {"shufflenet_v2()", "shufflenet_v2", "shufflenet_v2_x1_0"},
    {"convnext()", "convnext", "convnext_tiny"},
    {"vit()", "vit", "vit_b_16"},
    {"swin()", "swin", "swin_t"},
    {"regnet()", "regnet", "regnet_x_400mf"},
    {"regnet(depth: 16, initial: 48, slope: 27.89, step: 2.09, group: 8, squeeze: 0.25)", "regnet", "regnet_y_400mf"},
    {"efficientnet_v2()", "efficientnet_v2", "efficientnet_v2_s"},
    {"mnasnet(width: 0.5)", "mnasnet", "mnasnet0_5"},
    {"inception_v3()", "inception_v3", "inception_v3"}};

struct Named {
  std::string name;
  std::vector<std::int64_t> shape;
};

std::vector<Named> listed(const std::string& name) {
  std::ifstream file(test::inSources("test/unit/driver/torchvision/" + name + ".txt"));
  std::vector<Named> arrays;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Named& array = arrays.emplace_back();
    words >> array.name;
    for (std::int64_t dim = 0; words >> dim;) array.shape.push_back(dim);
  }
  return arrays;
}

/// Weights, then buffers, in order of definition.
std::vector<Named> defined(const graph::Row& row) {
  std::vector<Named> arrays;
  for (const graph::Graph::Weight& weight : row.graph().weights)
    arrays.push_back({row.graph()[row.graph()[weight.value].storage].path, row.shape(weight.value)});
  for (const graph::TensorId buffer : row.graph().buffers)
    arrays.push_back({row.graph()[row.graph()[buffer].storage].path, row.shape(buffer)});
  return arrays;
}

bool isBuffer(const std::string& name) { return name.find(".running_") != std::string::npos; }
/// What is computed here, and counted there.
bool isUnused(const std::string& name) {
  return name.ends_with("num_batches_tracked") || name.ends_with("relative_position_index");
}

class Torchvision : public ::testing::TestWithParam<Case> {};

TEST_P(Torchvision, GivesEveryWeightOnceInItsShape) {
  Request request;
  request.program.text = GetParam().expression;
  request.program.inputs = {"image=2,3,224,224"};
  Events events;
  PipelineState state(request, events);
  state.firstRowOnly = true;
  ASSERT_TRUE(runStages(state, "graph"));
  const std::vector<Named> ours = defined(*state.rows.front().elaborated), theirs = listed(GetParam().list);
  ASSERT_FALSE(theirs.empty());

  const auto rules = loadNameTable("torchvision", GetParam().table);
  ASSERT_TRUE(rules) << rules.error();
  std::vector<NamedRank> names;
  for (const Named& array : theirs) names.push_back({array.name, array.shape.size()});
  std::vector<std::string> paths;
  for (const Named& array : ours) paths.push_back(array.name);
  const auto matched = matchNames(*rules, names, paths);
  ASSERT_TRUE(matched) << matched.error();

  std::vector<std::size_t> inOrder;  // their weights, then their buffers
  for (const bool buffers : {false, true}) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (!isUnused(theirs[i].name) && isBuffer(theirs[i].name) == buffers) inOrder.push_back(i);
    }
  }
  ASSERT_EQ(inOrder.size(), ours.size());
  for (std::size_t k = 0; k < ours.size(); ++k) {
    EXPECT_EQ((*matched)[inOrder[k]], k) << theirs[inOrder[k]].name << " is " << ours[k].name;
    EXPECT_EQ(theirs[inOrder[k]].shape, ours[k].shape) << ours[k].name;
  }
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (isUnused(theirs[i].name)) {
      EXPECT_EQ((*matched)[i], kUnused) << theirs[i].name;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Networks, Torchvision, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.list); });

}  // namespace
}  // namespace tbem::driver
