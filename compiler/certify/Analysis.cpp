#include "compiler/certify/Analysis.h"

#include <algorithm>
#include <cmath>

namespace tbem::certify {

namespace {

/// Values of so few elements are narrowed by linear forms wherever they go into something that is not linear, as in gates and
/// recurrent cells: the first number always, the second where a gate would not be decided otherwise.
constexpr std::size_t kFew = 16, kSome = 256;

/// Products that take as long as carrying a form back to one element.
constexpr std::int64_t kTouch = 8;

}  // namespace

Analysis::Analysis(const Steps& steps, Inputs inputs, const Limits& limits)
    : steps(steps),
      limits(limits),
      known{steps, {steps.arithmetic, steps.fanOut}, std::move(inputs), {}, {}, {}, {}},
      forms(known),
      reached(steps.parents.size(), true),
      narrowed(steps.list.size(), false) {
  known.values.resize(steps.list.size());
  known.relaxations.resize(steps.list.size());
  known.decided.assign(steps.gates.size(), -1);
  for (const Gate& gate : steps.gates) known.rows.emplace_back(gate.rows, static_cast<std::int8_t>(-1));
}

Analysis::Analysis(const Analysis& other)
    : steps(other.steps),
      limits(other.limits),
      known(other.known),
      forms(known),  // its own, which was copied before
      reached(other.reached),
      narrowed(other.narrowed),
      refining(other.refining),
      refinedTo(other.refinedTo),
      bound(other.bound),
      nextStep(other.nextStep),
      nextGate(other.nextGate) {}

const Bound& Analysis::run() {
  bound.scores.resize(steps.gates.size());
  for (; nextStep < steps.list.size(); ++nextStep) {
    passGates();
    if (steps[nextStep].needed && reached[steps[nextStep].branch]) step(nextStep);
  }
  passGates();
  bound.decided = known.decided;
  bound.rows = known.rows;
  bound.forms = carried;
  bound.products = forms.products;
  return bound;
}

/// Decides the gates that stand before the next step.
void Analysis::passGates() {
  for (; nextGate < steps.gates.size() && steps.gates[nextGate].before <= nextStep; ++nextGate) {
    decide(nextGate);
    if (known.decided[nextGate] == -1 && refine(nextGate)) decide(nextGate);
    if (known.decided[nextGate] == -2) continue;
    bound.scores[nextGate] = scoreOf(steps.gates[nextGate].condition);
    nameUnsupported(steps.gates[nextGate].condition, bound);
    if (open == nullptr && isOpen(nextGate)) open = std::make_unique<Analysis>(*this);
  }
}

/// A skip with cases that are worth telling apart: what follows is bounded by one arm in each, and not by the hull of both. (What
/// follows an exit is the same whether it is decided or not; a gate at places has too many cases.)
bool Analysis::isOpen(std::size_t gate) const {
  return isLinear() && limits.splits > 0 && known.decided[gate] == -1 && !steps.gates[gate].exits && steps.gates[gate].rows == 1;
}

void Analysis::takeSide(bool condition, std::int64_t products) {
  known.rows[nextGate] = {static_cast<std::int8_t>(condition ? 1 : 0)};
  enterSides(nextGate);
  limits.products = products;
  ++nextGate;
}

/// Runs the steps that this gate or a later one depends on once more, with linear forms for the bounds of intermediate values.
/// False: there is nothing to be had from it.
bool Analysis::refine(std::size_t gate) {
  const std::size_t end = steps.gates[gate].before;
  if (refinedTo >= end || !isLinear() || forms.products >= limits.products || !steps.gates[gate].matters) return false;
  refining = true;
  for (auto value = static_cast<ValueId>(refinedTo); value < end; ++value) {
    const Step& step = steps[value];
    if (step.needed && step.lastGate >= gate && reached[step.branch]) this->step(value);
  }
  refining = false;
  refinedTo = end;
  return true;
}

Interval Analysis::range(std::span<const Term> terms) {
  carried += 2;
  return forms.range(terms);
}

void Analysis::evaluateStep(ValueId value) {
  std::vector<const Box*> inputs;
  for (const ValueId input : steps[value].inputs) inputs.push_back(&known.box(input));
  known.values[value] = evaluate(steps[value], inputs, known.losses);
  narrowed[value] = false;
}

void Analysis::step(ValueId value) {
  const Step& step = steps[value];
  switch (step.kind) {
    case StepKind::Constant:
      return;
    case StepKind::Input:
      known.values[value].box = known.inputs.around;
      return;
    case StepKind::Unsupported:
      known.values[value].box = Box(step.shape.count());
      return;
    case StepKind::Join:
      return join(value);
    case StepKind::Maximum:
    case StepKind::Minimum:
      return extreme(value);
    case StepKind::Less:
    case StepKind::LessEqual:
      return compare(value);
    case StepKind::Confidence:
      evaluateStep(value);
      if (isLinear()) known.values[value].box.set(0, meet(known.values[value].box.at(0), confidence(step.inputs[0])));
      return;
    case StepKind::Multiply:
    case StepKind::Function:
    case StepKind::Reciprocal:
    case StepKind::Softmax:
      return smooth(value);
    default:
      return evaluateStep(value);
  }
}

void Analysis::decide(std::size_t number) {
  const Gate& gate = steps.gates[number];
  std::vector<std::int8_t>& rows = known.rows[number];
  rows.assign(rows.size(), -2);
  for (std::size_t row = 0; row < rows.size() && reached[gate.branch]; ++row) {
    const std::int8_t outer = gate.outer ? known.rows[*gate.outer][row] : static_cast<std::int8_t>(-1);
    if (outer != -1 && outer != static_cast<std::int8_t>(gate.outerSide)) continue;  // the row is never in that arm
    const Interval condition = known.box(gate.condition).at(row);
    rows[row] = static_cast<std::int8_t>(condition.low == 1 ? 1 : condition.high == 0 ? 0 : -1);
  }
  enterSides(number);
}

/// By what is known of its rows. Branches below its sides are looked at when their gates are, which come later.
void Analysis::enterSides(std::size_t number) {
  const Gate& gate = steps.gates[number];
  const std::int8_t decided = known.decided[number] = together(known.rows[number]);
  reached[gate.whereTrue] = decided != 0 && decided != -2;
  reached[gate.whereFalse] = decided != 1 && decided != -2;
}

/// The side of a comparison that is not a constant.
std::optional<Bound::Score> Analysis::scoreOf(ValueId condition) const {
  const Step& step = steps[condition];
  if (step.kind != StepKind::Less && step.kind != StepKind::LessEqual) return std::nullopt;
  const bool first = !steps.isConstant(step.inputs[0]);
  if (first != steps.isConstant(step.inputs[1])) return std::nullopt;
  const Box& score = known.box(step.inputs[first ? 0 : 1]);
  return Bound::Score{*std::ranges::min_element(score.low), *std::ranges::max_element(score.high)};
}

/// Operators that the condition depends on, by a way that some input takes.
void Analysis::nameUnsupported(ValueId condition, Bound& bound) const {
  std::vector<bool> needed(steps.list.size());
  needed[condition] = true;
  for (ValueId value = condition + 1; value-- > 0;) {
    const Step& step = steps[value];
    if (!needed[value] || !reached[step.branch]) continue;
    for (const ValueId input : step.inputs) needed[input] = true;
    const bool silent =
        step.kind == StepKind::Function && step.function == graph::ElemOp::Pow && !known.box(value).at(0).isKnown();
    if (step.kind != StepKind::Unsupported && !silent) continue;
    const std::string name = silent ? "pow" : step.name;
    if (std::find(bound.unsupported.begin(), bound.unsupported.end(), name) == bound.unsupported.end())
      bound.unsupported.push_back(name);
  }
}

void Analysis::join(ValueId value) {
  const Step& step = steps[value];
  Box& box = known.values[value].box;
  const std::int8_t decided = known.decided[step.gate];
  if (decided == 0 || decided == 1) {
    box = known.box(step.inputs[static_cast<std::size_t>(decided)]);
    return;
  }
  const Box &computed = known.box(step.inputs[0]), &left = known.box(step.inputs[1]);
  box = Box(step.shape.count());
  for (std::size_t i = 0; i < box.size(); ++i) {
    const std::optional<std::size_t> arm = known.armOf(step, i);
    box.set(i, arm == 1 ? left.at(i) : arm == 0 ? computed.at(i) : hull(computed.at(i), left.at(i)));
  }
}

/// Bounds a - b by linear forms where its sign is not known: first at the end that is closer to 0, and at the other one only
/// where that did not do.
Interval Analysis::apart(ValueId a, ValueId b, std::size_t i, Interval d) {
  const Term terms[] = {{a, i, 1}, {b, i, -1}};
  const bool lowFirst = -d.low < d.high;
  for (const bool low : {lowFirst, !lowFirst}) {
    if (d.low >= 0 || d.high <= 0) break;
    ++carried;
    const double least = forms.least(terms, low ? 1 : -1);
    if (!std::isfinite(least)) continue;
    if (low)
      d.low = std::max(d.low, least);
    else
      d.high = std::min(d.high, -least);
  }
  return d;
}

void Analysis::extreme(ValueId value) {
  const Step& step = steps[value];
  const ValueId a = step.inputs[0], b = step.inputs[1];
  Box difference(step.shape.count());
  for (std::size_t i = 0; i < difference.size(); ++i) {
    const Interval x = known.box(a).at(i), y = known.box(b).at(i);
    if (!x.isKnown() || !y.isKnown()) continue;
    Interval d = outward(x.low - y.high, x.high - y.low);
    if (d.low < 0 && d.high > 0 && mayRefine() && !(narrowed[a] && steps.isConstant(b))) {
      d = apart(a, b, i, d);
      if (steps.isConstant(b) && !steps.isConstant(a))  // what is known of a - b is known of a
        known.values[a].box.set(i, meet(x, outward(d.low + y.low, d.high + y.high)));
    }
    difference.set(i, d);
  }
  evaluateStep(value);
  known.relaxations[value] = relaxExtreme(step, known.box(a), known.box(b), difference, known.losses);
  if (steps.isConstant(b)) known.relaxations[value].takeIn(known.box(b));
}

/// Bounds a value of few elements by linear forms.
void Analysis::narrow(ValueId value) {
  if (steps.isConstant(value) || narrowed[value] || !isLinear() || steps[value].shape.count() > (refining ? kSome : kFew)) return;
  narrowed[value] = true;
  Box& box = known.values[value].box;
  for (std::size_t i = 0; i < box.size(); ++i) {
    const Term term[] = {{value, i, 1}};
    if (box.at(i).isKnown() && box.low[i] < box.high[i]) box.set(i, meet(box.at(i), range(term)));
  }
}

void Analysis::smooth(ValueId value) {
  const Step& step = steps[value];
  for (const ValueId input : step.inputs) narrow(input);
  evaluateStep(value);
  if (step.kind == StepKind::Multiply)
    known.relaxations[value] = relaxProduct(known.box(step.inputs[0]), known.box(step.inputs[1]), known.losses);
  else if (step.kind != StepKind::Softmax)
    known.relaxations[value] = relaxFunction(step, known.box(step.inputs[0]), known.box(value), known.losses);
}

/// A comparison that intervals do not decide is decided by the difference of its sides.
void Analysis::compare(ValueId value) {
  evaluateStep(value);
  const Step& step = steps[value];
  Box& box = known.values[value].box;
  if (!isLinear()) return;
  for (std::size_t i = 0; i < box.size(); ++i) {
    // Of a gate at many places, each of which may depend on the whole image.
    if (i >= kFew && forms.products + kTouch * forms.touched >= limits.products) break;
    const ValueId a = step.inputs[0], b = step.inputs[1];
    if (box.low[i] == box.high[i] || !known.box(a).at(i).isKnown() || !known.box(b).at(i).isKnown()) continue;
    const Term terms[] = {{a, i, 1}, {b, i, -1}};
    const Interval d = range(terms);
    if (!d.isKnown()) continue;
    const bool strict = step.kind == StepKind::Less;
    if (strict ? d.high < 0 : d.high <= 0) box.set(i, Interval::at(1));
    if (strict ? d.low >= 0 : d.low > 0) box.set(i, Interval::at(0));
  }
}

// ---- The largest element of a softmax ----------------------------------------------------------------------------------

namespace {

/// Of e^d for d from low to high, the chord above it: slope, and what it is at d = 0.
std::pair<double, double> chordOf(Interval d) {
  const double low = std::exp(d.low) * (1 + 0x1p-50), high = std::exp(d.high) * (1 + 0x1p-50);
  if (!(d.high - d.low > 0x1p-20)) return {0, std::max(low, high)};
  const double slope = std::max(0.0, (high - low) / (d.high - d.low));
  // At both ends not below e^d, which is convex.
  const double shift = std::max(low - slope * d.low, high - slope * d.high);
  return {slope, shift + 0x1p-48 * (high + slope * d.magnitude())};
}

}  // namespace

/// With c the largest logit, the largest probability is 1 / sum_j e^(z_j - z_c): for the least of it, the sum's most for one c
/// that is likely to be the largest; for the most of it, the sum's least for every c that may be. A sum's most is that of the
/// most of its terms, or of chords above them together; its least, of tangents below them.
Interval Analysis::confidence(ValueId logits) {
  const Box& z = known.box(logits);
  const std::size_t n = z.size();
  for (std::size_t j = 0; j < n; ++j)
    if (!z.at(j).isKnown()) return {};
  std::vector<Interval> ahead(n);  // z_j - z_c
  const auto measure = [&](std::size_t c) {
    std::size_t highest = c;
    for (std::size_t j = 0; j < n; ++j) {
      const Term terms[] = {{logits, j, 1}, {logits, c, -1}};
      ahead[j] = j == c ? Interval::at(0) : meet(outward(z.low[j] - z.high[c], z.high[j] - z.low[c]), range(terms));
      if (ahead[j].low + ahead[j].high > ahead[highest].low + ahead[highest].high) highest = j;
    }
    return highest;
  };
  std::size_t c = 0;
  for (std::size_t j = 1; j < n; ++j)
    if (z.low[j] + z.high[j] > z.low[c] + z.high[c]) c = j;
  if (const std::size_t highest = measure(c); highest != c) measure(c = highest);

  double most = 1, chords = 1;
  std::vector<Term> slopes{{logits, c, 0}};
  for (std::size_t j = 0; j < n; ++j) {
    if (j == c) continue;
    most += std::exp(ahead[j].high) * (1 + 0x1p-50);
    const auto [slope, shift] = chordOf(ahead[j]);
    chords += shift;
    slopes.push_back({logits, j, slope});
    slopes[0].factor -= slope;
  }
  if (std::isfinite(slopes[0].factor)) {
    carried += 1;
    const double together = chords - forms.least(slopes, -1);
    if (together < most) most = together;  // not where it is not a number
  }
  const double exactly = 1 + 0x1p-40;  // the few operations of f64 since
  const Interval surest = confidenceOf({1, std::max(most, 1.0) * exactly}, n, steps.arithmetic);

  double high = 0;
  for (std::size_t top = 0; top < n; ++top) {
    // At least its own term, and that of c.
    double sum = top == c ? 1 : 1 + std::exp(-ahead[top].high);
    if (top == c)
      for (std::size_t j = 0; j < n; ++j) sum += j == c ? 0 : std::exp(ahead[j].low);
    if (1 / sum <= high) continue;
    std::vector<Term> tangents{{logits, top, 0}};
    double shift = 1;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == top) continue;
      const double at = std::min(0.5 * (ahead[j].low + ahead[j].high) - 0.5 * (ahead[top].low + ahead[top].high), 20.0);
      const double slope = std::exp(at);
      shift += slope * (1 - at);
      tangents.push_back({logits, j, slope});
      tangents[0].factor -= slope;
    }
    carried += 1;
    const double together = shift + forms.least(tangents, 1) - 0x1p-40 * std::fabs(shift);
    if (together > sum) sum = together;
    high = std::max(high, 1 / (sum * (2 - exactly)));
  }
  return {surest.low, confidenceOf({std::max(1 / high, 1.0), 1}, n, steps.arithmetic).high};
}

}  // namespace tbem::certify
