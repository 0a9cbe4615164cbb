#include "runtime/cudnn/Card.h"

#include "runtime/cudnn/Question.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbem::cudnn {

struct Card::Impl {
  api::Functions functions;
  api::Handle handle = nullptr;

  Impl(const api::Functions& functions, api::Handle handle) : functions(functions), handle(handle) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { functions.destroyHandle(handle); }
};

struct Plan::Impl {
  api::Functions functions;
  api::Handle handle = nullptr;
  Failure failure;  // of the descriptors below; its address stays
  std::optional<Descriptor> config, plan, pack;
  std::vector<std::int64_t> ids;    ///< of the tensors, and then of the constants
  std::vector<Constant> constants;  ///< cuDNN reads their values from here
  std::vector<void*> packed;        ///< what `pack` holds: the tensors' addresses, the workspace's
  std::uint64_t workspace = 0;
  const char* running = "";  ///< what it does, for a failure
};

Plan::Plan(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::uint64_t Plan::workspace() const { return impl->workspace; }

std::string Plan::run(std::span<void* const> tensors, void* workspace) {
  impl->failure.text.clear();
  const bool same = impl->pack && impl->packed.back() == workspace &&
                    std::equal(tensors.begin(), tensors.end(), impl->packed.begin(), impl->packed.end() - 1);
  if (!same) {  // the steps of a training hand over the same addresses each time
    std::vector<void*> pointers(tensors.begin(), tensors.end());
    for (Constant& constant : impl->constants) pointers.push_back(&constant.value);
    Descriptor pack(impl->functions, impl->failure, api::kVariantPack);
    pack.set<std::int64_t>(api::kPackIds, api::kInt64, std::span<const std::int64_t>(impl->ids));
    pack.set<void*>(api::kPackPointers, api::kPointer, std::span<void* const>(pointers));
    pack.set(api::kPackWorkspace, api::kPointer, workspace);
    pack.finish("the addresses of its tensors");
    if (!impl->failure.ok()) return impl->failure.text;
    impl->pack = std::move(pack);
    impl->packed.assign(tensors.begin(), tensors.end());
    impl->packed.push_back(workspace);
  }
  return failureText(impl->functions, impl->functions.execute(impl->handle, impl->plan->get(), impl->pack->get()), impl->running);
}

Card::Card(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Card::~Card() = default;
Card::Card(Card&&) noexcept = default;
Card& Card::operator=(Card&&) noexcept = default;

tl::expected<Card, std::string> Card::make(const Library& library, void* stream) {
  const api::Functions& functions = library.functions;
  api::Handle handle = nullptr;
  if (std::string why = failureText(functions, functions.createHandle(&handle), "the card"); !why.empty())
    return tl::unexpected(std::move(why));
  auto impl = std::make_unique<Impl>(functions, handle);
  if (std::string why = failureText(functions, functions.setStream(handle, stream), "the card's stream"); !why.empty())
    return tl::unexpected(std::move(why));
  return Card(std::move(impl));
}

tl::expected<std::vector<Engine>, std::string> Card::engines(const Problem& problem, List list) const {
  Failure failure;
  std::vector<Engine> engines = Question(impl->functions, problem, failure, impl->handle).ask(nullptr, list);
  if (!failure.ok()) return tl::unexpected(failure.text);
  return engines;
}

tl::expected<Plan, std::string> Card::plan(const Problem& problem, const Engine& engine) const {
  auto made = std::make_unique<Plan::Impl>();
  made->functions = impl->functions;
  made->handle = impl->handle;
  const Question question(made->functions, problem, made->failure, impl->handle);
  made->config = question.config(question.graph(), engine);
  made->plan = question.make(api::kExecutionPlan);
  made->plan->set(api::kPlanHandle, api::kHandle, impl->handle);
  made->plan->set(api::kPlanConfig, *made->config);
  made->plan->finish("a plan");
  made->workspace = static_cast<std::uint64_t>(made->plan->one<std::int64_t>(api::kPlanWorkspace, api::kInt64));
  if (!made->failure.ok()) return tl::unexpected(made->failure.text);
  std::visit(
      [&](const auto& asked) {
        made->ids = tensorsOf(asked);
        made->constants = constantsOf(asked);
        made->running = std::is_same_v<decltype(asked), const Convolution&> ? "to run a convolution" : "to run attention";
      },
      problem);
  for (const Constant& constant : made->constants) made->ids.push_back(constant.id);
  return Plan(std::move(made));
}

}  // namespace tbem::cudnn
