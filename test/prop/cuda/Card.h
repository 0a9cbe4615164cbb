// What the tests of cuda share: a card, or the reason why there is none, and the comparison with ref.
#pragma once

#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbem::test {

/// Skips its test, with the backend's reason, where no card can be used.
class OnCard : public testing::Test {
protected:
  void SetUp() override {
    tbem_device_info info{};
    if (tbem_backend_cuda()->probe(&info) != TBEM_OK) GTEST_SKIP() << tbem_backend_cuda()->last_error();
    interpreted_ = std::string(info.name) == "tbemc test card";
  }
  bool interpreted_ = false;  ///< by test/card, with stand-ins for cuDNN and cuBLASLt
};

/// Run by cuDNN or cuBLASLt.
bool isLibrarys(tbem_primitive primitive);
/// Whether there is none of f32.
bool isNarrowAlone(tbem_primitive primitive);
/// Takes lists of rows of samples, which no random problem has.
bool movesRows(tbem_primitive primitive);

enum class Runs { twice, andReplayed };

/// cuda in f32 against ref in f64, whose distance is at most `bound`; a second run has the same bits, and so has a recorded one.
/// `types` gives operands other element types. Guard bytes and inputs are looked at in each run (Problem.h).
void agreesWithRef(const Problem& problem, double bound, Runs runs = Runs::twice,
                   const std::function<void(std::vector<tbem_operand>&)>& types = {});

/// The length of the difference, as a share of what was expected.
double relative(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace tbem::test
