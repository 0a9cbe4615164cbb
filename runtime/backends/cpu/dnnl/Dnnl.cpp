#include "runtime/backends/cpu/dnnl/Dnnl.h"
#include "runtime/backends/cpu/ops/Parallel.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <algorithm>
#include <cstring>

namespace tbem::cpu::onednn {
namespace {

/// The engine, its stream and the attributes that every primitive has: made on first use, for the life of the process.
struct Library {
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  dnnl_primitive_attr_t attributes = nullptr;
  Library() {
    dnnl_engine_create(&engine, dnnl_cpu, 0);
    dnnl_stream_create(&stream, engine, dnnl_stream_default_flags);
    dnnl_primitive_attr_create(&attributes);
    dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
  }
};

Library& library() {
  static Library made;
  return made;
}

/// A primitive with its memories. The scratchpad, where there is one, is the last argument.
class Execution final : public Op {
public:
  Execution(const tbem_op_desc& desc) : Op(desc) {}
  ~Execution() override {
    for (const dnnl_exec_arg_t& argument : arguments_) dnnl_memory_destroy(argument.memory);
    if (primitive_ != nullptr) dnnl_primitive_destroy(primitive_);
  }

  dnnl_status_t prepare(const Descriptor& descriptor, const std::vector<Argument>& arguments) {
    takeTeam(threads);
    dnnl_status_t status = dnnl_primitive_create(&primitive_, descriptor.get());
    for (std::size_t i = 0; i < arguments.size() && status == dnnl_success; ++i) {
      status = add(arguments[i].name, arguments[i].memory);
      numbers_.push_back(arguments[i].operand);
    }
    if (status == dnnl_success && descriptor.workspace() > 0) {
      status = add(DNNL_ARG_SCRATCHPAD, descriptor.memory(dnnl_query_scratchpad_md));
    }
    return status;
  }

  tbem_status run(void* const* memory, void* work, const double*) override {
    takeTeam(threads);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      void* place = i < numbers_.size() ? memory[numbers_[i]] : work;
      if (place == places_[i]) continue;
      dnnl_memory_set_data_handle(arguments_[i].memory, place);
      places_[i] = place;
    }
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_, library().stream, static_cast<int>(arguments_.size()), arguments_.data());
    return status == dnnl_success ? TBEM_OK : fail(TBEM_FAILED, fmt::format("oneDNN: {}", dnnl_status2str(status)));
  }

private:
  dnnl_status_t add(int name, const dnnl_memory_desc_t& description) {
    dnnl_memory_t made = nullptr;
    const dnnl_status_t status = dnnl_memory_create(&made, &description, library().engine, DNNL_MEMORY_NONE);
    if (status != dnnl_success) return status;
    arguments_.push_back({name, made});
    places_.push_back(nullptr);
    return status;
  }

  dnnl_primitive_t primitive_ = nullptr;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<int> numbers_;   ///< operand of each argument but the scratchpad
  std::vector<void*> places_;  ///< what each memory points to now
};

}  // namespace

const dnnl_memory_desc_t& Descriptor::memory(dnnl_query_t what, int index) const {
  return *dnnl_primitive_desc_query_md(handle_, what, index);
}

std::uint64_t Descriptor::workspace() const { return dnnl_memory_desc_get_size(&memory(dnnl_query_scratchpad_md)); }

std::string_view Descriptor::implementation() const {
  const char* name = "";
  dnnl_primitive_desc_query(handle_, dnnl_query_impl_info_str, 0, &name);
  return name;
}

dnnl_engine_t engine() { return library().engine; }
const_dnnl_primitive_attr_t attributes() { return library().attributes; }

Descriptor describe(const void* operatorDescriptor, int threads, std::string_view skip) {
  takeTeam(threads);
  dnnl_primitive_desc_iterator_t iterator = nullptr;
  if (dnnl_primitive_desc_iterator_create(&iterator, static_cast<const_dnnl_op_desc_t>(operatorDescriptor), attributes(),
                                          engine(), nullptr) != dnnl_success)
    return {};
  Descriptor made(dnnl_primitive_desc_iterator_fetch(iterator));
  while (made && !skip.empty() && made.implementation().find(skip) != std::string_view::npos) {
    const bool more = dnnl_primitive_desc_iterator_next(iterator) == dnnl_success;
    made = more ? Descriptor(dnnl_primitive_desc_iterator_fetch(iterator)) : Descriptor();
  }
  dnnl_primitive_desc_iterator_destroy(iterator);
  return made;
}

Descriptor describeReorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to, int threads) {
  takeTeam(threads);
  dnnl_primitive_desc_t made = nullptr;
  const dnnl_status_t status = dnnl_reorder_primitive_desc_create(&made, &from, engine(), &to, engine(), attributes());
  return status == dnnl_success ? Descriptor(made) : Descriptor();
}

int rank(const Descriptor& descriptor) {
  const std::string_view name = descriptor.implementation();
  if (name.starts_with("ref") || name.starts_with("simple")) return 0;
  return name.find("gemm:") != std::string_view::npos && name.find("brg") == std::string_view::npos ? 1 : 2;
}

dnnl_data_type_t dataType(const tbem_operand& operand) { return operand.dtype == TBEM_BF16 ? dnnl_bf16 : dnnl_f32; }

dnnl_memory_desc_t describeOperand(const tbem_operand& operand) {
  dnnl_memory_desc_t memory{};
  memory.ndims = operand.rank;
  memory.data_type = dataType(operand);
  std::copy_n(operand.dims, operand.rank, memory.dims);
  if (operand.layout.any) {
    memory.format_kind = dnnl_format_kind_any;
    return memory;
  }
  memory.format_kind = dnnl_blocked;
  std::copy_n(operand.layout.padded, operand.rank, memory.padded_dims);
  auto& blocking = memory.format_desc.blocking;
  std::copy_n(operand.layout.strides, operand.rank, blocking.strides);
  blocking.inner_nblks = operand.layout.blocks;
  for (int b = 0; b < operand.layout.blocks; ++b) {
    blocking.inner_blks[b] = operand.layout.block_size[b];
    blocking.inner_idxs[b] = operand.layout.block_dim[b];
  }
  return memory;
}

dnnl_memory_desc_t describeStrided(dnnl_data_type_t type, int rank, const dnnl_dim_t* dims, const dnnl_dim_t* strides) {
  dnnl_memory_desc_t memory{};
  dnnl_memory_desc_init_by_strides(&memory, rank, dims, type, strides);
  return memory;
}

bool readLayout(const dnnl_memory_desc_t& memory, tbem_operand& operand) {
  const auto& blocking = memory.format_desc.blocking;
  if (memory.format_kind != dnnl_blocked || memory.extra.flags != dnnl_memory_extra_flag_none || memory.offset0 != 0 ||
      memory.ndims != operand.rank || blocking.inner_nblks > 4) {
    return false;
  }
  tbem_layout layout{};
  std::copy_n(blocking.strides, operand.rank, layout.strides);
  std::copy_n(memory.padded_dims, operand.rank, layout.padded);
  layout.blocks = blocking.inner_nblks;
  for (int b = 0; b < layout.blocks; ++b) {
    layout.block_dim[b] = static_cast<std::int32_t>(blocking.inner_idxs[b]);
    layout.block_size[b] = static_cast<std::int32_t>(blocking.inner_blks[b]);
  }
  layout.bytes = dnnl_memory_desc_get_size(&memory);
  operand.layout = layout;
  return true;
}

tbem_status makeOp(const tbem_op_desc& desc, const Descriptor& descriptor, const std::vector<Argument>& arguments,
                   std::unique_ptr<Op>& out) {
  auto made = std::make_unique<Execution>(desc);
  const dnnl_status_t status = made->prepare(descriptor, arguments);
  if (status == dnnl_out_of_memory) return fail(TBEM_OUT_OF_MEMORY, "oneDNN: no memory for an operator");
  if (status != dnnl_success) return fail(TBEM_FAILED, fmt::format("oneDNN: {}", dnnl_status2str(status)));
  out = std::move(made);
  return TBEM_OK;
}

std::string versionText() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

bool hasBfloat16() { return isaText().starts_with("avx512_core"); }

bool packsIntoPlan() { return isaText().starts_with("avx512_core"); }

std::string isaText() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "sse41";
    case dnnl_cpu_isa_avx:
      return "avx";
    case dnnl_cpu_isa_avx2:
      return "avx2";
    case dnnl_cpu_isa_avx512_mic:
      return "avx512_mic";
    case dnnl_cpu_isa_avx512_mic_4ops:
      return "avx512_mic_4ops";
    case dnnl_cpu_isa_avx512_core:
      return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "avx512_core_amx";
    case dnnl_cpu_isa_avx2_vnni:
      return "avx2_vnni";
    default:
      return "generic";
  }
}

}  // namespace tbem::cpu::onednn
