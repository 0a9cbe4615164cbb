#include "compiler/experiment/trainings/Ball.h"

namespace tbem::driver {

void takeBall(perturb::Plan& plan, const graph::Ball& ball) {
  plan.norm = ball.norm == graph::Norm::L2 ? perturb::Norm::L2 : perturb::Norm::Linf;
  plan.radius = ball.radius.toDouble();
  plan.low = ball.low.toDouble();
  plan.high = ball.high.toDouble();
}

}  // namespace tbem::driver
