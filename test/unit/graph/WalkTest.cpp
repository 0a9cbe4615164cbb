// Walks over operators and the arms of gates.
#include "compiler/graph/ir/Walk.h"

#include "compiler/graph/ir/Branches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbem::test {
namespace {

using graph::OpId;
using graph::OpKind;
using graph::RegionId;

struct Gated {
  Gated() { g.regions.emplace_back(); }
  OpId add(RegionId region, OpKind kind, const std::string& name) {
    graph::Op op;
    op.kind = kind;
    op.declaration = name;
    op.region = region;
    g.ops.push_back(op);
    const auto id = static_cast<OpId>(g.ops.size() - 1);
    g[region].ops.push_back(id);
    return id;
  }
  RegionId arm(OpId gate) {
    const auto id = static_cast<RegionId>(g.regions.size());
    g.regions.emplace_back();
    g[id].owner = gate;
    g[gate].regions.push_back(id);
    return id;
  }
  std::string name(OpId op) const { return g[op].declaration; }

  graph::Graph g;
};

// stem; a skip whose computed arm holds another skip; a tail; an exit; a last operator. Arms are filled last to first.
Gated network() {
  Gated net;
  net.add(graph::kMainRegion, OpKind::Native, "stem");
  const OpId outer = net.add(graph::kMainRegion, OpKind::Skip, "outer");
  const RegionId computed = net.arm(outer), left = net.arm(outer);
  net.add(graph::kMainRegion, OpKind::Native, "tail");
  net.add(graph::kMainRegion, OpKind::Exit, "exit");
  net.add(graph::kMainRegion, OpKind::Native, "last");
  net.add(left, OpKind::Native, "cheap");
  net.add(computed, OpKind::Native, "before");
  const OpId inner = net.add(computed, OpKind::Skip, "inner");
  const RegionId innermost = net.arm(inner), none = net.arm(inner);
  net.add(computed, OpKind::Native, "after");
  net.add(innermost, OpKind::Native, "dear");
  static_cast<void>(none);
  return net;
}

TEST(Walk, GivesOperatorsInProgramOrderWithTheirPlaces) {
  const Gated net = network();
  std::string text;
  for (const graph::Placed& placed : graph::inOrder(net.g))
    text += net.name(placed.op) + " " + std::to_string(placed.depth) + (placed.isConditional ? "?" : "") + ", ";
  EXPECT_EQ(text, "stem 0, outer 0, before 1?, inner 1?, dear 2?, after 1?, cheap 1?, tail 0, exit 0, last 0?, ");
}

TEST(Walk, EntersAndLeavesEveryArmBehindItsGate) {
  const Gated net = network();
  struct Writer {
    const Gated& net;
    std::string text = {};
    void visit(OpId op) { text += net.name(op) + " "; }
    void enter(const graph::Arm& arm) { text += net.name(arm.gate) + "." + std::to_string(arm.position) + "{ "; }
    void leave(const graph::Arm& arm) { text += arm.isLast ? "}. " : "} "; }
  } writer{net};
  graph::walk(net.g, writer);
  EXPECT_EQ(writer.text,
            "stem outer outer.0{ before inner inner.0{ dear } inner.1{ }. after } outer.1{ cheap }. tail exit last ");
}

TEST(Walk, KnowsTheFirstGate) {
  const Gated net = network();
  ASSERT_NE(graph::firstGate(net.g), nullptr);
  EXPECT_EQ(graph::firstGate(net.g)->declaration, "outer");
  Gated plain;
  plain.add(graph::kMainRegion, OpKind::Native, "stem");
  EXPECT_EQ(graph::firstGate(plain.g), nullptr);
}

TEST(Branches, PartAtGatesAndGoOnBehindAnExit) {
  const Gated net = network();
  const graph::Branches branches = graph::branchesOf(net.g);
  std::vector<std::uint32_t> of;
  for (const graph::Placed& placed : graph::inOrder(net.g)) of.push_back(branches.of[graph::index(placed.op)]);
  // 1 and 2 part at `outer`, 3 and 4 in 1 at `inner`, 5 and 6 at the exit.
  EXPECT_EQ(of, (std::vector<std::uint32_t>{0, 0, 1, 1, 3, 1, 2, 0, 0, 5}));
  EXPECT_EQ(branches.list.size(), 7U);
  EXPECT_EQ(branches.list[3].parent, 1U);
  EXPECT_TRUE(branches.list[6].condition);
}

}  // namespace
}  // namespace tbem::test
