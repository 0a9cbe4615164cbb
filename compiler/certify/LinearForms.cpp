#include "compiler/certify/LinearForms.h"

#include "compiler/certify/Kernels.h"

#include <algorithm>
#include <cmath>

namespace tbem::certify {

namespace {

Window whole(const Shape& shape) { return {0, shape.height, 0, shape.width}; }

Window pixel(const Shape& shape, std::size_t element) {
  const std::int64_t at = static_cast<std::int64_t>(element) / shape.channels;
  return {at / shape.width, at / shape.width + 1, at % shape.width, at % shape.width + 1};
}

/// Calls run(first element, end) for each run of elements in the window.
template <class Run>
void overRuns(const Shape& shape, const Window& window, Run run) {
  for (std::int64_t h = window.h0; h < window.h1; ++h)
    run(static_cast<std::size_t>((h * shape.width + window.w0) * shape.channels),
        static_cast<std::size_t>((h * shape.width + window.w1) * shape.channels));
}

struct Sum {
  double value = 0, absolute = 0;
};

/// The sum of term(i) over the window, and that of the terms' sizes, in eight parts each.
template <class Term>
Sum sumOver(const Shape& shape, const Window& window, Term term) {
  double value[8] = {}, absolute[8] = {};
  overRuns(shape, window, [&](std::size_t first, std::size_t end) {
    std::size_t i = first;
    for (; i + 8 <= end; i += 8) {
      for (std::size_t k = 0; k < 8; ++k) {
        const double t = term(i + k);
        value[k] += t;
        absolute[k] += std::fabs(t);
      }
    }
    for (; i < end; ++i) {
      const double t = term(i);
      value[0] += t;
      absolute[0] += std::fabs(t);
    }
  });
  Sum sum;
  for (std::size_t k = 0; k < 8; ++k) {
    sum.value += value[k];
    sum.absolute += absolute[k];
  }
  return sum;
}

double countOf(const Shape& shape, const Window& window) {
  return static_cast<double>((window.h1 - window.h0) * (window.w1 - window.w0) * shape.channels);
}

}  // namespace

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
             [&](std::size_t first, std::size_t end) { std::fill(form.of.begin() + first, form.of.begin() + end, 0.0); });
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
      takeOff(step.shape, form, known.values[value].slack);
      return backSums(step, form);
    case StepKind::Convolve: {
      takeOff(step.shape, form, known.values[value].slack);
      const Convolution& c = step.convolution;
      const Shape& image = known.steps[step.inputs[0]].shape;
      // A dense layer over several rows has pixels where the values' shapes have none.
      const Window window = step.shape.isImage() ? form.window : Window{0, c.oh, 0, c.ow};
      if (!c.bias.empty()) {
        const auto outputs = static_cast<std::size_t>(c.o);
        const Sum bias = sumOver(step.shape, form.window, [&](std::size_t i) { return form.of[i] * c.bias[i % outputs]; });
        constant += bias.value;
        absolute += bias.absolute;
        terms += countOf(step.shape, form.window);
      }
      double* to = open(step.inputs[0], {});
      const Window met = convolveBack(c, form.of.data(), window, to, products);
      open(step.inputs[0], image.isImage() ? met : whole(image));
      return;
    }
    case StepKind::Add:
      takeOff(step.shape, form, known.values[value].slack);
      spread(step, form, 0, 1);
      return spread(step, form, 1, 1);
    case StepKind::Subtract:
      takeOff(step.shape, form, known.values[value].slack);
      spread(step, form, 0, 1);
      return spread(step, form, 1, -1);
    case StepKind::Negate:
      return spread(step, form, 0, -1);
    case StepKind::Select:
      return backSelect(value, form);
    case StepKind::Join: {
      const std::int8_t decided = known.decided[step.gate];
      if (decided == 0 || decided == 1) return hand(step.inputs[static_cast<std::size_t>(decided)], form.window, form);
      return end(step.shape, form, known.box(value));
    }
    case StepKind::Multiply:
      if (known.steps.isConstant(step.inputs[0]) || known.steps.isConstant(step.inputs[1])) {
        takeOff(step.shape, form, known.values[value].slack);
        return scale(step, form);
      }
      [[fallthrough]];
    default:
      if (!known.relaxations[value].isEmpty()) return backRelaxed(step, form, known.relaxations[value]);
      return end(step.shape, form, known.box(value));
  }
}

/// Each element by the end of its interval: what is left of the form is a constant.
void LinearForms::end(const Shape& shape, const Form& form, const Box& box) {
  const Sum sum = sumOver(shape, form.window, [&](std::size_t i) { return form.of[i] * (form.of[i] >= 0 ? box.low[i] : box.high[i]); });
  constant += sum.value;
  absolute += sum.absolute;
  terms += countOf(shape, form.window);
}

void LinearForms::takeOff(const Shape& shape, const Form& form, const std::vector<double>& slack) {
  const Sum sum = sumOver(shape, form.window, [&](std::size_t i) { return std::fabs(form.of[i]) * slack[i]; });
  constant -= sum.value;
  absolute += sum.absolute;
  terms += countOf(shape, form.window);
}

void LinearForms::hand(ValueId to, const Window& window, const Form& form) {
  if (known.steps.isConstant(to)) return end(known.steps[to].shape, form, known.steps[to].constant);
  double* next = open(to, window);
  overRuns(known.steps[to].shape, window, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) next[i] += form.of[i];
  });
}

/// To an input of the same shape, `sign` times.
void LinearForms::spread(const Step& step, const Form& form, std::size_t input, double sign) {
  const ValueId to = step.inputs[input];
  if (known.steps.isConstant(to)) {
    const Box& box = known.steps[to].constant;
    const Sum sum = sumOver(step.shape, form.window, [&](std::size_t i) {
      const double factor = sign * form.of[i];
      return factor * (factor >= 0 ? box.low[i] : box.high[i]);
    });
    constant += sum.value;
    absolute += sum.absolute;
    terms += countOf(step.shape, form.window);
    return;
  }
  double* next = open(to, form.window);
  overRuns(step.shape, form.window, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) next[i] += sign * form.of[i];
  });
}

/// Through a product with a constant, whose middle it is multiplied by: its last places are in the slack.
void LinearForms::scale(const Step& step, const Form& form) {
  const bool first = known.steps.isConstant(step.inputs[0]);
  const Box& factor = known.steps[step.inputs[first ? 0 : 1]].constant;
  double* next = open(step.inputs[first ? 1 : 0], form.window);
  overRuns(step.shape, form.window, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) next[i] += form.of[i] * (0.5 * factor.low[i] + 0.5 * factor.high[i]);
  });
}

void LinearForms::backRelaxed(const Step& step, const Form& form, const Relaxation& lines) {
  takeOff(step.shape, form, lines.slack);
  const Sum shift = sumOver(step.shape, form.window, [&](std::size_t i) {
    return form.of[i] * (form.of[i] >= 0 ? lines.lowShift[i] : lines.highShift[i]);
  });
  constant += shift.value;
  absolute += shift.absolute;
  terms += countOf(step.shape, form.window);
  const auto carry = [&](ValueId to, const std::vector<double>& low, const std::vector<double>& high) {
    if (known.steps.isConstant(to)) {
      const Box& box = known.steps[to].constant;
      const Sum sum = sumOver(step.shape, form.window, [&](std::size_t i) {
        const double factor = form.of[i] * (form.of[i] >= 0 ? low[i] : high[i]);
        return factor * (factor >= 0 ? box.low[i] : box.high[i]);
      });
      constant += sum.value;
      absolute += sum.absolute;
      terms += countOf(step.shape, form.window);
      return;
    }
    double* next = open(to, form.window);
    overRuns(step.shape, form.window, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) next[i] += form.of[i] * (form.of[i] >= 0 ? low[i] : high[i]);
    });
  };
  carry(step.inputs[0], lines.lowA, lines.highA);
  if (!lines.lowB.empty()) carry(step.inputs[1], lines.lowB, lines.highB);
}

void LinearForms::backGather(const Step& step, const Form& form) {
  std::vector<std::size_t> ends;
  std::size_t all = 0;
  for (const ValueId input : step.inputs) ends.push_back(all += known.steps[input].shape.count());
  overRuns(step.shape, form.window, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
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
  overRuns(step.shape, form.window, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (form.of[i] == 0) continue;
      const double each = form.of[i] * step.scale[i];
      for (std::uint32_t k = step.offsets[i]; k < step.offsets[i + 1]; ++k) touch(step.inputs[0], step.index[k], each);
    }
  });
}

void LinearForms::backSelect(ValueId value, const Form& form) {
  const Step& step = known.steps[value];
  const Box& condition = known.box(step.inputs[0]);
  overRuns(step.shape, form.window, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      if (form.of[i] == 0) continue;
      const bool sure = condition.low[i] == condition.high[i];
      const ValueId to = sure ? step.inputs[condition.low[i] != 0 ? 1 : 2] : value;
      if (sure && !known.steps.isConstant(to)) {
        touch(to, i, form.of[i]);
      } else {
        addConstant(form.of[i] * (form.of[i] >= 0 ? known.box(to).low[i] : known.box(to).high[i]));
      }
    }
  });
}

/// The least value over the ball: of the elements' intervals, or of the L2 ball without them, whichever is more.
void LinearForms::backInput(const Form& form) {
  const Inputs& inputs = known.inputs;
  const Shape& shape = known.steps[known.steps.input].shape;
  const double before = constant;
  end(shape, form, inputs.around);
  if (!std::isfinite(inputs.radius)) return;
  const Sum centre = sumOver(shape, form.window, [&](std::size_t i) { return form.of[i] * inputs.centre[i]; });
  const Sum squares = sumOver(shape, form.window, [&](std::size_t i) { return form.of[i] * form.of[i]; });
  const double count = countOf(shape, form.window);
  const double reach = inputs.radius * std::sqrt(squares.value) * (1 + (count + 8) * kUnit);
  absolute += centre.absolute + reach;
  constant = std::max(constant, before + (centre.value - reach));
}

}  // namespace tbem::certify
