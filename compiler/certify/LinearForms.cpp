#include "compiler/certify/LinearForms.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tbem::certify {

namespace {

Window pixel(const Shape& shape, std::size_t element) {
  const std::int64_t at = static_cast<std::int64_t>(element) / shape.channels;
  return {at / shape.width, at / shape.width + 1, at % shape.width, at % shape.width + 1};
}

/// Calls run(first element, how many) for each run of elements in the window.
template <class Run>
void overRuns(const Shape& shape, const Window& window, Run run) {
  for (std::int64_t h = window.h0; h < window.h1; ++h)
    run(static_cast<std::size_t>((h * shape.width + window.w0) * shape.channels), (window.w1 - window.w0) * shape.channels);
}

double countOf(const Shape& shape, const Window& window) {
  return static_cast<double>((window.h1 - window.h0) * (window.w1 - window.w0) * shape.channels);
}

}  // namespace

std::int8_t together(std::span<const std::int8_t> rows) {
  std::int8_t all = -2;
  for (const std::int8_t row : rows) {
    if (row == -2) continue;
    if (row == -1 || (all != -2 && all != row)) return -1;
    all = row;
  }
  return all;
}

LinearForms::LinearForms(const Knowledge& knowledge) : known(knowledge), forms(knowledge.steps.list.size()) {}

double LinearForms::least(std::span<const Term> wanted, double sign) {
  constant = absolute = terms = 0;
  ValueId last = 0;
  for (const Term& term : wanted) {
    touch(term.value, term.element, sign * term.factor);
    last = std::max(last, term.value);
  }
  for (ValueId value = last + 1; value-- > 0;) {
    Form& form = forms[value];
    if (form.window.isEmpty()) continue;
    back(value);
    overRuns(known.steps[value].shape, form.window,
             [&](std::size_t first, std::int64_t n) { std::fill_n(&form.of[first], n, 0.0); });
    form.window = {};
  }
  return constant - absolute * (terms + 16) * 2 * kUnit - kTiny;
}

/// The form's coefficients of a value, of which the window may change.
double* LinearForms::open(ValueId value, const Window& window) {
  Form& form = forms[value];
  if (form.of.empty()) form.of.assign(known.steps[value].shape.count(), 0.0);
  form.window.include(window);
  return form.of.data();
}

void LinearForms::touch(ValueId value, std::size_t element, double factor) {
  ++touched;
  open(value, pixel(known.steps[value].shape, element))[element] += factor;
}

void LinearForms::back(ValueId value) {
  const Step& step = known.steps[value];
  const Form& form = forms[value];
  switch (step.kind) {
    case StepKind::Input:
      return backInput(form);
    case StepKind::Gather:
      return backGather(step, form);
    case StepKind::Sums:
      takeSlack(value, form);
      return backSums(step, form);
    case StepKind::Convolve:
      takeSlack(value, form);
      return backConvolve(step, form);
    case StepKind::Affine:
      return backAffine(value, form);
    case StepKind::Add:
    case StepKind::Subtract:
      takeSlack(value, form);
      hand(step, form, 0, 1);
      return hand(step, form, 1, step.kind == StepKind::Add ? 1 : -1);
    case StepKind::Negate:
      return hand(step, form, 0, -1);
    case StepKind::Select:
      return backSelect(value, form);
    case StepKind::Join:
      if (known.decided[step.gate] >= 0) return hand(step, form, static_cast<std::size_t>(known.decided[step.gate]), 1);
      if (known.rows[step.gate].size() > 1) return backJoin(value, form);
      break;
    default:
      if (!known.relaxations[value].isEmpty()) return backLines(step, form, known.relaxations[value]);
  }
  end(step.shape, form, known.box(value).low, known.box(value).high);
}

void LinearForms::collect(const Lanes& sums, double count) {
  for (int k = 0; k < Lanes::kCount; ++k) {
    constant += sums.value[k];
    absolute += sums.absolute[k];
  }
  terms += count;
}

void LinearForms::addConstant(double term) {
  constant += term;
  absolute += std::fabs(term);
  ++terms;
}

/// Each element by one of two numbers: what is left of the form is a constant.
void LinearForms::end(const Shape& shape, const Form& form, const std::vector<double>& low, const std::vector<double>& high) {
  Lanes sums;
  overRuns(shape, form.window,
           [&](std::size_t first, std::int64_t n) { endIn(n, &form.of[first], &low[first], &high[first], sums); });
  collect(sums, countOf(shape, form.window));
}

void LinearForms::takeSlack(ValueId value, const Form& form) {
  const Shape& shape = known.steps[value].shape;
  const std::vector<double>& slack = known.values[value].slack;
  Lanes sums;
  overRuns(shape, form.window, [&](std::size_t first, std::int64_t n) { takeOff(n, &form.of[first], &slack[first], sums); });
  collect(sums, countOf(shape, form.window));
}

/// To an input of the same shape.
void LinearForms::hand(const Step& step, const Form& form, std::size_t input, double factor) {
  const ValueId to = step.inputs[input];
  double* next = open(to, form.window);
  overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) { handOn(n, &form.of[first], factor, next + first); });
}

void LinearForms::backConvolve(const Step& step, const Form& form) {
  const Convolution& c = step.convolution;
  if (!c.bias.empty()) {
    Lanes sums;
    for (std::int64_t h = form.window.h0; h < form.window.h1; ++h) {
      for (std::int64_t w = form.window.w0; w < form.window.w1; ++w) {
        for (std::int64_t at = (h * step.shape.width + w) * step.shape.channels, end = at + step.shape.channels; at < end;
             at += c.o)
          endIn(c.o, &form.of[static_cast<std::size_t>(at)], c.bias.data(), c.bias.data(), sums);
      }
    }
    collect(sums, countOf(step.shape, form.window));
  }
  open(step.inputs[0], convolveBack(c, form.of.data(), form.window, open(step.inputs[0], {}), products));
}

void LinearForms::backAffine(ValueId value, const Form& form) {
  const Step& step = known.steps[value];
  takeSlack(value, form);
  double* next = open(step.inputs[0], form.window);
  Lanes sums;
  overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) {
    throughAffine(n, &form.of[first], &step.scale[first], &step.shift[first], next + first, sums);
  });
  collect(sums, countOf(step.shape, form.window));
}

void LinearForms::backLines(const Step& step, const Form& form, const Relaxation& lines) {
  Lanes sums;
  overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) {
    takeOff(n, &form.of[first], &lines.slack[first], sums);
    endIn(n, &form.of[first], &lines.lowShift[first], &lines.highShift[first], sums);
  });
  collect(sums, 2 * countOf(step.shape, form.window));
  const auto carry = [&](ValueId to, const std::vector<double>& low, const std::vector<double>& high) {
    double* next = open(to, form.window);
    overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) {
      throughLines(n, &form.of[first], &low[first], &high[first], next + first);
    });
  };
  carry(step.inputs[0], lines.lowA, lines.highA);
  if (!lines.lowB.empty()) carry(step.inputs[1], lines.lowB, lines.highB);
}

void LinearForms::backGather(const Step& step, const Form& form) {
  std::vector<std::size_t> ends;
  std::size_t all = 0;
  for (const ValueId input : step.inputs) ends.push_back(all += known.steps[input].shape.count());
  overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) {
    for (std::size_t i = first; i < first + static_cast<std::size_t>(n); ++i) {
      if (form.of[i] == 0 || step.index[i] == kHole) continue;
      std::size_t k = 0;
      while (step.index[i] >= ends[k]) ++k;
      const ValueId to = step.inputs[k];
      const std::size_t element = step.index[i] - (ends[k] - known.steps[to].shape.count());
      if (known.steps.isConstant(to)) {
        const Box& box = known.steps[to].constant;
        addConstant(form.of[i] * (form.of[i] >= 0 ? box.low[element] : box.high[element]));
      } else {
        touch(to, element, form.of[i]);
      }
    }
  });
}

void LinearForms::backSums(const Step& step, const Form& form) {
  overRuns(step.shape, form.window, [&](std::size_t first, std::int64_t n) {
    for (std::size_t i = first; i < first + static_cast<std::size_t>(n); ++i) {
      if (form.of[i] == 0) continue;
      const double each = form.of[i] * step.scale[i];
      for (std::uint32_t k = step.offsets[i]; k < step.offsets[i + 1]; ++k) touch(step.inputs[0], step.index[k], each);
    }
  });
}

/// Each element is one of an input's where it is known which: `from(element)`, or nothing.
template <class From>
void LinearForms::backOneOf(ValueId value, const Form& form, From from) {
  overRuns(known.steps[value].shape, form.window, [&](std::size_t first, std::int64_t n) {
    for (std::size_t i = first; i < first + static_cast<std::size_t>(n); ++i) {
      if (form.of[i] == 0) continue;
      const std::optional<ValueId> input = from(i);
      if (input && !known.steps.isConstant(*input)) {
        touch(*input, i, form.of[i]);
      } else {
        const Box& box = known.box(input.value_or(value));
        addConstant(form.of[i] * (form.of[i] >= 0 ? box.low[i] : box.high[i]));
      }
    }
  });
}

void LinearForms::backSelect(ValueId value, const Form& form) {
  const Step& step = known.steps[value];
  const Box& condition = known.box(step.inputs[0]);
  backOneOf(value, form, [&](std::size_t i) -> std::optional<ValueId> {
    if (condition.low[i] != condition.high[i]) return std::nullopt;
    return step.inputs[condition.low[i] != 0 ? 1 : 2];
  });
}

/// Of a gate at places, which are rows.
void LinearForms::backJoin(ValueId value, const Form& form) {
  const Step& step = known.steps[value];
  backOneOf(value, form, [&](std::size_t i) -> std::optional<ValueId> {
    const std::optional<std::size_t> arm = known.armOf(step, i);
    return arm ? std::optional(step.inputs[*arm]) : std::nullopt;
  });
}

/// The least value over the ball: of the elements' intervals, or of the L2 ball without them, whichever is more.
void LinearForms::backInput(const Form& form) {
  const Inputs& inputs = known.inputs;
  const Shape& shape = known.steps[known.steps.input].shape;
  const double before = constant;
  end(shape, form, inputs.around.low, inputs.around.high);
  if (!std::isfinite(inputs.radius)) return;
  const double boxed = constant;
  constant = before;
  end(shape, form, inputs.centre, inputs.centre);
  double squares = 0;
  overRuns(shape, form.window, [&](std::size_t first, std::int64_t n) {
    for (std::size_t i = first; i < first + static_cast<std::size_t>(n); ++i) squares += form.of[i] * form.of[i];
  });
  addConstant(-inputs.radius * std::sqrt(squares) * (1 + (countOf(shape, form.window) + 8) * kUnit));
  constant = std::max(constant, boxed);
}

}  // namespace tbem::certify
