// Certificates come back as they were kept, those before a failure too.
#include "test/unit/TemporaryFolder.h"

#include "runtime/perturb/KeptCertificates.h"

#include <gtest/gtest.h>

namespace tbem::perturb {
namespace {

class Certificates : public test::TemporaryFolder {
protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    keeping.store = folder + "/points.tbemdb";
  }

  KeptCertificates open(const std::string& identity = "proof") {
    auto kept = KeptCertificates::open(keeping, identity);
    if (!kept) throw std::runtime_error(kept.error().message);
    return std::move(*kept);
  }
  void keep(const std::vector<Certificate>& certificates, const std::string& identity = "proof") {
    KeptCertificates kept = open(identity);
    for (const Certificate& certificate : certificates) ASSERT_TRUE(kept.add(certificate));
    ASSERT_TRUE(kept.flush());
  }

  Keeping keeping;
};

Certificate certificate(std::int64_t example) {
  return {example, 1.0 / 3 + static_cast<double>(example), 0.1, {1, -1, -2}, {0, 12, 0}, {"layer_norm"}, 0.25};
}

TEST_F(Certificates, ComeBackBitForBit) {
  keep({certificate(0), certificate(2)});
  const auto found = open().first(3, 3);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  const Certificate &kept = found->at(2), made = certificate(2);
  EXPECT_EQ(kept.example, 2);
  EXPECT_EQ(kept.flops, made.flops);
  EXPECT_EQ(kept.least, made.least);
  EXPECT_EQ(kept.decided, made.decided);
  EXPECT_EQ(kept.open, made.open);
  EXPECT_EQ(kept.unsupported, made.unsupported);
  EXPECT_EQ(kept.found, 0) << "that is a method's, and not kept";
}

TEST_F(Certificates, AreOfTheFirstExamplesAndOfOneIdentity) {
  keep({certificate(0), certificate(1), certificate(2)});
  keep({certificate(7)}, "another");
  EXPECT_EQ(open().first(2, 3)->size(), 2U);
  EXPECT_EQ(open("another").first(9, 3)->size(), 1U);
  EXPECT_TRUE(open("none").first(9, 3)->empty());
  keeping.fresh = true;
  EXPECT_TRUE(open().first(9, 3)->empty()) << "they are to be computed anew";
}

TEST_F(Certificates, AreReplacedByNewerOnes) {
  keep({certificate(0)});
  Certificate newer = certificate(0);
  newer.flops = 2;
  keep({newer});
  EXPECT_EQ(open().first(1, 3)->at(0).flops, 2);
}

TEST_F(Certificates, OfOtherGatesAreRefused) {
  keep({certificate(0)});
  const auto found = open().first(1, 4);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("certificate of example 0 cannot be taken up: it is of a network with other gates"),
            std::string::npos)
      << found.error().message;
}

TEST_F(Certificates, AreKeptNowhereWithoutAStore) {
  keeping.store.clear();
  keep({certificate(0)});
  EXPECT_TRUE(open().first(1, 3)->empty());
}

}  // namespace
}  // namespace tbem::perturb
