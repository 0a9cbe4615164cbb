#include "runtime/regress/StudentT.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace tbem::regress;

// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, upper critical values of Student's t.
TEST(StudentT, PublishedTable) {
  struct Row {
    double degrees, p, t;
  };
  for (const Row& row :
       {Row{1, 0.975, 12.706}, Row{2, 0.975, 4.303}, Row{3, 0.999, 10.215}, Row{4, 0.90, 1.533}, Row{5, 0.95, 2.015},
        Row{6, 0.975, 2.447}, Row{7, 0.99, 2.998}, Row{10, 0.975, 2.228}, Row{15, 0.995, 2.947}, Row{20, 0.975, 2.086},
        Row{30, 0.975, 2.042}, Row{60, 0.995, 2.660}, Row{100, 0.975, 1.984}, Row{100, 0.999, 3.174}}) {
    EXPECT_NEAR(studentQuantile(row.p, row.degrees), row.t, 6e-4) << row.degrees << " " << row.p;
    EXPECT_NEAR(studentQuantile(1 - row.p, row.degrees), -row.t, 6e-4);
  }
}

TEST(StudentT, ClosedForms) {
  for (const double p : {0.55, 0.75, 0.9, 0.975, 0.995, 0.9999}) {
    const double cauchy = std::tan(std::numbers::pi * (p - 0.5));  // 1 degree of freedom
    EXPECT_NEAR(studentQuantile(p, 1) / cauchy, 1, 1e-11) << p;
    EXPECT_NEAR(studentQuantile(p, 2) / ((2 * p - 1) / std::sqrt(2 * p * (1 - p))), 1, 1e-11) << p;  // 2 degrees
    const double a = 4 * p * (1 - p), q = std::cos(std::acos(std::sqrt(a)) / 3) / std::sqrt(a);
    EXPECT_NEAR(studentQuantile(p, 4) / (2 * std::sqrt(q - 1)), 1, 1e-10) << p;  // 4 degrees
  }
  EXPECT_NEAR(studentQuantile(0.975, 1e7), 1.959963984540054, 1e-6);  // the normal limit
}

TEST(StudentT, QuantileInvertsCdf) {
  for (double degrees = 1; degrees < 3000; degrees *= 1.7) {
    for (const double p : {0.001, 0.2, 0.5, 0.8, 0.9995})
      EXPECT_NEAR(studentCdf(studentQuantile(p, degrees), degrees), p, 1e-12) << degrees;
  }
}
