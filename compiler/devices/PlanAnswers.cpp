#include "compiler/devices/PlanAnswers.h"

#include "compiler/backends/Backends.h"

#include <utility>

namespace tbem::driver {

PlanAnswers::PlanAnswers(const DescribedDevice& card) {
  auto opened = EngineSource::open("", false, card.device, asked, silent);
  if (opened && opened->hasAnswers()) source.emplace(std::move(*opened));
  cudnn::Answerer answerer;
  if (source) {
    answerer.owner = this;
    answerer.engines = [this](const cudnn::Problem& problem, cudnn::List list) { return source->answer(problem, list); };
    answerer.version = [this] { return source->version(); };
  }
  planForCard(card.properties, std::move(answerer));
}

PlanAnswers::~PlanAnswers() { withdrawAnswerer(this); }

}  // namespace tbem::driver
