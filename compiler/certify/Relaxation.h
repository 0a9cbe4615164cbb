// Lines above and below what is not linear. Internal to this folder.
#pragma once

#include "compiler/certify/Evaluate.h"

#include <vector>

namespace tbem::certify {

/// By element, y lies between lowA a + lowB b + lowShift and highA a + highB b + highShift, as the network computes it. Functions
/// of one operand have no lowB and highB. `slack` as Value's.
struct Relaxation {
  std::vector<double> lowA, lowB, lowShift, highA, highB, highShift, slack;

  explicit Relaxation(std::size_t count = 0, bool ofTwo = false);
  bool isEmpty() const { return lowA.empty(); }
  /// What b, a constant, adds becomes part of the shifts.
  void takeIn(const Box& b);
};

/// Of a Maximum or Minimum, from the bounds of a - b: the triangle above a relu (Ehlers 2017), and below it the one of its two
/// lines that leaves the smaller area (Zhang et al. 2018, "Efficient Neural Network Robustness Certification with General
/// Activation Functions"; Singh et al. 2019, "An Abstract Domain for Certifying Neural Networks").
Relaxation relaxExtreme(const Step& step, const Box& a, const Box& b, const Box& difference, const Losses& losses);

/// Of a Multiply of two that vary: McCormick 1976.
Relaxation relaxProduct(const Box& a, const Box& b, const Losses& losses);

/// Of a Function or Reciprocal that grows or falls over all of its operand's interval, by two parallel lines whose slope its own
/// is never below (Singh et al. 2018, "Fast and Effective Robustness Certification", section 4). Empty for other functions.
Relaxation relaxFunction(const Step& step, const Box& x, const Box& y, const Losses& losses);

}  // namespace tbem::certify
