// cuTENSOR's operations over trn::tensor: see tensor.hpp.
#include "tensor.hpp"

#include <cstdio>
#include <cstring>
#include <map>

#include <trn/tensor/elementwise.hpp>

#include "operands.hpp"

namespace trn::capi::tensor {

using Tensor = trntensorTensorDescriptor;

namespace {

tt::Binary binary_of(trntensorOperator_t op) {
  switch (op) {
    case TRNTENSOR_OP_ADD:
      return tt::Binary::Add;
    case TRNTENSOR_OP_MUL:
      return tt::Binary::Mul;
    case TRNTENSOR_OP_MAX:
      return tt::Binary::Max;
    case TRNTENSOR_OP_MIN:
      return tt::Binary::Min;
    default:
      fail<InvalidArgument>("{} is not a binary operator", static_cast<int>(op));
  }
}
Operand operand(Tensor* descriptor, const std::int32_t* modes, trntensorOperator_t op) {
  const auto t = look(descriptor);
  require(modes != nullptr || t->extents.empty(), "the modes are null");
  return {t->extents, t->strides, t->type, {modes, modes + t->extents.size()}, unary_of(op)};
}
// A view of the operand at an address, whose extent is looked up.
tt::TypedView view(Call& c, const char* what, const Operand& o, const void* data) {
  Int low = 0, high = 0;
  bool empty = false;
  for (std::size_t i = 0; i < o.extents.size(); ++i) {
    empty = empty || o.extents[i] == 0;
    Int reach = 0;
    require(!__builtin_mul_overflow(std::max<Int>(o.extents[i] - 1, 0), o.strides[i], &reach), "{} is too large", what);
    (reach < 0 ? low : high) += reach;
  }
  const Int size = bytes_of(o.type);
  const bool complex = o.type == TRN_C_32F || o.type == TRN_C_64F;  // two reals
  require_aligned(what, data, static_cast<std::size_t>(complex ? size / 2 : size));
  if (!empty)
    data = device_memory(*c.handle.device, what, static_cast<const std::byte*>(data) + low * size,
                         (high - low + 1) * size) -
           low * size;
  return {c.executor, dtype_of_type(o.type), const_cast<void*>(data), Shape(o.extents.begin(), o.extents.end()),
          Strides(o.strides.begin(), o.strides.end())};
}
// C has the result's modes in its order: its axes are turned so.
Operand aligned(Operand c, const Operand& result) {
  require(c.modes.size() == result.modes.size(), "C has {} modes and D {}", c.modes.size(), result.modes.size());
  Operand turned = c;
  for (std::size_t i = 0; i < result.modes.size(); ++i) {
    const auto at = std::find(c.modes.begin(), c.modes.end(), result.modes[i]) - c.modes.begin();
    require(at < static_cast<Int>(c.modes.size()), "C lacks mode {} of D", result.modes[i]);
    turned.modes[i] = c.modes[static_cast<std::size_t>(at)];
    turned.extents[i] = c.extents[static_cast<std::size_t>(at)],
    turned.strides[i] = c.strides[static_cast<std::size_t>(at)];
  }
  return turned;
}
std::shared_ptr<trntensorPlan> plan_of(trntensorPlan_t plan, Kind kind, std::size_t operands) {
  auto found = look(plan);
  require(found->operation.kind == kind && found->operation.operands.size() == operands,
          "the plan is for another operation");
  return found;
}

}  // namespace

void create_handle(trntensorHandle_t* handle) { capi::create_handle(handle); }
void destroy_handle(Call& c) { alive<trntensorHandle>().remove(&c.handle); }

// Plans are made quickly: there is nothing to keep. A file says so, and another program's is refused.
void resize_plan_cache(Call&, std::uint32_t) {}
void write_cache(Call&, const char* name) {
  require(name != nullptr, "filename is null");
  std::FILE* const file = std::fopen(name, "w");
  if (!file) throw WithStatus(TRNTENSOR_STATUS_IO_ERROR, "the file cannot be written");
  const bool written = std::fputs("trntensor: no plans are kept\n", file) >= 0;
  if (std::fclose(file) != 0 || !written) throw WithStatus(TRNTENSOR_STATUS_IO_ERROR, "the file cannot be written");
}
void read_cache(Call&, const char* name) {
  require(name != nullptr, "filename is null");
  std::FILE* const file = std::fopen(name, "r");
  if (!file) throw WithStatus(TRNTENSOR_STATUS_IO_ERROR, "the file cannot be read");
  char text[10] = "";
  const bool ours = std::fgets(text, sizeof text, file) && std::strcmp(text, "trntensor") == 0;
  std::fclose(file);
  require(ours, "the file was not written by trntensor");
}
void read_cache(Call& c, const char* name, std::uint32_t* lines) {
  require(lines != nullptr, "numCachelinesRead is null; it receives the result");
  read_cache(c, name);
  *lines = 0;
}

void create_tensor(Call&, trntensorTensorDescriptor_t* out, std::uint32_t count, const Int* extents, const Int* strides,
                   trnDataType type, std::uint32_t alignment) {
  require(out != nullptr, "desc is null; it receives the descriptor");
  require(count <= 64, "{} modes; there may be 64", count);
  require(extents != nullptr || count == 0, "extent is null");
  require(alignment > 0 && (alignment & (alignment - 1)) == 0, "the alignment is {}; it must be a power of two",
          alignment);
  (void)dtype_of_type(type);
  Tensor made{{extents, extents + count}, {}, type, strides == nullptr};
  for (const Int e : made.extents) require(e >= 1, "an extent is {}; it must be >= 1", e);
  made.strides = strides ? std::vector<Int>(strides, strides + count) : packed(made.extents);
  *out = alive<Tensor>().add(std::make_shared<Tensor>(std::move(made)));
}

void create_trinary(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa, Tensor* b,
                    const std::int32_t* mb, trntensorOperator_t ob, Tensor* c, const std::int32_t* mc,
                    trntensorOperator_t oc, Tensor* d, const std::int32_t* md, trntensorOperator_t ab,
                    trntensorOperator_t abc, trntensorComputeDescriptor_t compute) {
  (void)binary_of(ab), (void)binary_of(abc);
  give(out,
       {.kind = Kind::Elementwise,
        .operands = {operand(a, ma, oa), operand(b, mb, ob), operand(c, mc, oc)},
        .result = operand(d, md, TRNTENSOR_OP_IDENTITY),
        .first = ab,
        .second = abc},
       compute);
}
void create_binary(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa, Tensor* c,
                   const std::int32_t* mc, trntensorOperator_t oc, Tensor* d, const std::int32_t* md,
                   trntensorOperator_t ac, trntensorComputeDescriptor_t compute) {
  (void)binary_of(ac);
  give(out,
       {.kind = Kind::Elementwise,
        .operands = {operand(a, ma, oa), operand(c, mc, oc)},
        .result = operand(d, md, TRNTENSOR_OP_IDENTITY),
        .first = ac},
       compute);
}
void create_permutation(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa, Tensor* b,
                        const std::int32_t* mb, trntensorComputeDescriptor_t compute) {
  give(out,
       {.kind = Kind::Permutation,
        .operands = {operand(a, ma, oa)},
        .result = operand(b, mb, TRNTENSOR_OP_IDENTITY),
        .packed_result = look(b)->packed},
       compute);
}
void create_contraction(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa, Tensor* b,
                        const std::int32_t* mb, trntensorOperator_t ob, Tensor* c, const std::int32_t* mc,
                        trntensorOperator_t oc, Tensor* d, const std::int32_t* md,
                        trntensorComputeDescriptor_t compute) {
  give(out,
       {.kind = Kind::Contraction,
        .operands = {operand(a, ma, oa), operand(b, mb, ob), operand(c, mc, oc)},
        .result = operand(d, md, TRNTENSOR_OP_IDENTITY)},
       compute);
}
void create_contraction_trinary(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa,
                                Tensor* b, const std::int32_t* mb, trntensorOperator_t ob, Tensor* c,
                                const std::int32_t* mc, trntensorOperator_t oc, Tensor* d, const std::int32_t* md,
                                trntensorOperator_t od, Tensor* e, const std::int32_t* me,
                                trntensorComputeDescriptor_t compute) {
  give(out,
       {.kind = Kind::Contraction,
        .operands = {operand(a, ma, oa), operand(b, mb, ob), operand(c, mc, oc), operand(d, md, od)},
        .result = operand(e, me, TRNTENSOR_OP_IDENTITY)},
       compute);
}
void create_reduction(Call&, Descriptor** out, Tensor* a, const std::int32_t* ma, trntensorOperator_t oa, Tensor* c,
                      const std::int32_t* mc, trntensorOperator_t oc, Tensor* d, const std::int32_t* md,
                      trntensorOperator_t reduce, trntensorComputeDescriptor_t compute) {
  (void)binary_of(reduce);
  give(out,
       {.kind = Kind::Reduction,
        .operands = {operand(a, ma, oa), operand(c, mc, oc)},
        .result = operand(d, md, TRNTENSOR_OP_IDENTITY),
        .first = reduce},
       compute);
}

void set_attribute(Call&, Descriptor* descriptor, trntensorOperationDescriptorAttribute_t attribute, const void* from,
                   std::size_t bytes) {
  const auto d = look(descriptor);
  require(from != nullptr, "buf is null");
  const auto padding = [&] {
    require(d->kind == Kind::Permutation && bytes == d->result.extents.size() * sizeof(std::uint32_t),
            "a padding is for permutations and has 4 bytes for each mode of the result");
    std::vector<std::uint32_t> counts(d->result.extents.size());
    if (bytes > 0) std::memcpy(counts.data(), from, bytes);
    return std::vector<Int>(counts.begin(), counts.end());
  };
  switch (attribute) {
    case TRNTENSOR_OPERATION_DESCRIPTOR_TAG:
      require(bytes == sizeof(int), "a tag has {} bytes", sizeof(int));
      return void(std::memcpy(&d->tag, from, bytes));
    case TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_LEFT:
      return void(d->pad_left = padding());
    case TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_RIGHT:
      return void(d->pad_right = padding());
    case TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_VALUE: {
      require(d->kind == Kind::Permutation && static_cast<Int>(bytes) == bytes_of(d->result.type),
              "a padding's value has the result's type");
      if (bytes == 2) fail<NotImplemented>("a padding value of 16 bits");
      const auto* p = static_cast<const std::byte*>(from);
      return void(d->pad_value.assign(p, p + bytes));
    }
    default:
      fail<InvalidArgument>("attribute {} cannot be set", static_cast<int>(attribute));
  }
}
// Products and additions; complex ones count 8.
static double flops(const Descriptor& d) {
  if (d.kind == Kind::BlockSparse) return block_flops(d);
  std::map<std::int32_t, Int> extents;
  for (const auto& o : d.operands)
    for (std::size_t i = 0; i < o.modes.size(); ++i) extents[o.modes[i]] = o.extents[i];
  double product = 1;
  for (const auto& [mode, extent] : extents) product *= static_cast<double>(extent);
  return product * (is_complex_type(d.result.type) ? 8 : 2);
}
static double moved(const Descriptor& d) {
  if (d.kind == Kind::BlockSparse) return block_bytes(d);
  const auto bytes = [](const Operand& o) {
    double n = static_cast<double>(bytes_of(o.type));
    for (const Int e : o.extents) n *= static_cast<double>(e);
    return n;
  };
  double sum = bytes(d.result);
  for (const auto& o : d.operands) sum += bytes(o);
  return sum;
}
void get_attribute(Call&, Descriptor* descriptor, trntensorOperationDescriptorAttribute_t attribute, void* to,
                   std::size_t bytes) {
  const auto d = look(descriptor);
  require(to != nullptr && bytes == 4, "these attributes have 4 bytes");
  const auto put = [&](auto value) { std::memcpy(to, &value, 4); };
  switch (attribute) {
    case TRNTENSOR_OPERATION_DESCRIPTOR_TAG:
      return put(d->tag);
    case TRNTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE:
      return put(scalar_type(*d));
    case TRNTENSOR_OPERATION_DESCRIPTOR_FLOPS:
      return put(static_cast<float>(flops(*d)));
    case TRNTENSOR_OPERATION_DESCRIPTOR_MOVED_BYTES:
      return put(static_cast<float>(moved(*d)));
    default:
      fail<InvalidArgument>("attribute {} cannot be asked for", static_cast<int>(attribute));
  }
}

void create_preference(Call&, trntensorPlanPreference_t* out, trntensorAlgo_t algorithm, trntensorJitMode_t jit) {
  require(out != nullptr, "pref is null; it receives the preference");
  require(jit == TRNTENSOR_JIT_MODE_NONE || jit == TRNTENSOR_JIT_MODE_DEFAULT, "just-in-time mode {}",
          static_cast<int>(jit));
  *out = alive<trntensorPlanPreference>().add(std::make_shared<trntensorPlanPreference>(algorithm, jit));
}
void set_preference(Call&, trntensorPlanPreference_t preference, trntensorPlanPreferenceAttribute_t attribute,
                    const void* from, std::size_t bytes) {
  (void)look(preference);
  require(from != nullptr && bytes == 4 && attribute >= 0 && attribute <= TRNTENSOR_PLAN_PREFERENCE_JIT,
          "attribute {} of {} bytes is not known", static_cast<int>(attribute), bytes);
}
void estimate_workspace(Call&, Descriptor* descriptor, trntensorPlanPreference_t preference,
                        trntensorWorksizePreference_t which, std::uint64_t* bytes) {
  (void)look(descriptor);
  if (preference) (void)look(preference);
  require(which >= TRNTENSOR_WORKSPACE_MIN && which <= TRNTENSOR_WORKSPACE_MAX, "workspace preference {}",
          static_cast<int>(which));
  answer("workspaceSizeEstimate", bytes, 0);
}
void create_plan(Call& c, trntensorPlan_t* out, Descriptor* descriptor, trntensorPlanPreference_t preference,
                 std::uint64_t) {
  require(out != nullptr, "plan is null; it receives the plan");
  if (preference) (void)look(preference);
  const auto d = look(descriptor);
  auto made = std::make_shared<trntensorPlan>(*d, nullptr);
  if (d->kind == Kind::Contraction) {
    tt::Description description;
    std::vector<const Operand*> inputs;
    for (std::size_t i = 0; i + 1 < d->operands.size(); ++i) inputs.push_back(&d->operands[i]);
    description.expression = tt::parse(text_of(inputs, d->result));
    const auto described = [](const Operand& o) {
      return tt::Operand{Shape(o.extents.begin(), o.extents.end()), Strides(o.strides.begin(), o.strides.end()),
                         dtype_of_type(o.type), o.op};
    };
    for (const auto* o : inputs) description.operands.push_back(described(*o));
    description.output = described(d->result);
    made->operation.operands.back() = aligned(d->operands.back(), d->result);
    description.c = described(made->operation.operands.back());
    description.precision = precision(c, *d);
    made->contraction = std::make_shared<const tt::Plan>(c.executor, description);
  }
  if (d->kind == Kind::BlockSparse) {
    tt::BlockDescription description = *d->blocks;
    description.precision = precision(c, *d);
    made->sparse = std::make_shared<const tt::BlockPlan>(c.executor, description);
  }
  *out = alive<trntensorPlan>().add(std::move(made));
}
void get_plan_attribute(Call&, trntensorPlan_t plan, trntensorPlanAttribute_t attribute, void* to, std::size_t bytes) {
  (void)look(plan);
  require(attribute == TRNTENSOR_PLAN_REQUIRED_WORKSPACE && to != nullptr && bytes == sizeof(std::uint64_t),
          "the attribute {} of {} bytes is not known", static_cast<int>(attribute), bytes);
  std::memset(to, 0, bytes);
}

static void multiply(Call& c, trntensorPlan_t plan, std::vector<const void*> inputs, const void* alpha,
                     const void* beta, const void* c_data, void* d_data, trnStream_t stream) {
  const auto p = plan_of(plan, Kind::Contraction, inputs.size() + 1);
  const auto& d = p->operation;
  const auto s = stream_of(stream);
  run(*s, [&] {
    const tt::Scalars scalars{number(scalar_type(d), alpha, "alpha"), number(scalar_type(d), beta, "beta")};
    std::vector<tt::TypedView> views;
    for (std::size_t i = 0; i < inputs.size(); ++i) views.push_back(view(c, "an operand", d.operands[i], inputs[i]));
    const auto to = view(c, "D", d.result, d_data);
    // A factor of zero leaves C unread: it may be null.
    const auto from = view(c, "C", d.operands.back(), scalars.beta == 0.0 && !c_data ? d_data : c_data);
    (void)p->contraction->execute(views, to, scalars, &from);
  });
}
void contract(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, const void* b, const void* beta,
              const void* c_data, void* d, void*, std::uint64_t, trnStream_t stream) {
  multiply(c, plan, {a, b}, alpha, beta, c_data, d, stream);
}
void contract_trinary(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, const void* b, const void* third,
                      const void* beta, const void* d, void* e, void*, std::uint64_t, trnStream_t stream) {
  multiply(c, plan, {a, b, third}, alpha, beta, d, e, stream);
}

static void join(Call& c, trntensorPlan_t plan, const std::vector<const void*>& data,
                 const std::vector<const void*>& scales, void* to, trnStream_t stream) {
  const auto p = plan_of(plan, Kind::Elementwise, data.size());
  const auto& d = p->operation;
  run(*stream_of(stream), [&] {
    tt::ElementwiseOptions options;
    std::vector<tt::TypedView> views;
    std::vector<const Operand*> operands;
    for (std::size_t i = 0; i < data.size(); ++i) {
      options.unary.push_back(d.operands[i].op);
      options.scale.push_back(number(scalar_type(d), scales[i], "a scalar"));
      views.push_back(view(c, "an operand", d.operands[i], data[i]));
      operands.push_back(&d.operands[i]);
    }
    if (data.size() == 3) options.second = binary_of(d.second);
    tt::elementwise(c.executor, text_of(operands, d.result), binary_of(d.first), views, view(c, "D", d.result, to),
                    options);
  });
}
void trinary(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, const void* beta, const void* b,
             const void* gamma, const void* third, void* d, trnStream_t stream) {
  join(c, plan, {a, b, third}, {alpha, beta, gamma}, d, stream);
}
void binary(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, const void* gamma, const void* second,
            void* d, trnStream_t stream) {
  join(c, plan, {a, second}, {alpha, gamma}, d, stream);
}
void permute(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, void* b, trnStream_t stream) {
  const auto p = plan_of(plan, Kind::Permutation, 1);
  const auto& d = p->operation;
  run(*stream_of(stream), [&] {
    tt::PermuteOptions options{.unary = d.operands[0].op,
                               .alpha = number(scalar_type(d), alpha, "alpha"),
                               .pad_left = d.pad_left,
                               .pad_right = d.pad_right};
    if (!d.pad_value.empty()) options.pad_value = number(d.result.type, d.pad_value.data(), "the padding");
    Operand result = d.result;
    for (const auto* pads : {&d.pad_left, &d.pad_right})
      for (std::size_t i = 0; i < pads->size(); ++i) result.extents[i] += (*pads)[i];
    if (d.packed_result) result.strides = packed(result.extents);
    tt::permute(c.executor, text_of({&d.operands[0]}, d.result), view(c, "A", d.operands[0], a),
                view(c, "B", result, b), options);
  });
}
void reduce(Call& c, trntensorPlan_t plan, const void* alpha, const void* a, const void* beta, const void* c_data,
            void* d_data, void*, std::uint64_t, trnStream_t stream) {
  const auto p = plan_of(plan, Kind::Reduction, 2);
  const auto& d = p->operation;
  run(*stream_of(stream), [&] {
    const tt::ReduceOptions options{.unary = d.operands[0].op,
                                    .alpha = number(scalar_type(d), alpha, "alpha"),
                                    .beta = number(scalar_type(d), beta, "beta"),
                                    .unary_c = d.operands[1].op};
    const Operand second = aligned(d.operands[1], d.result);
    const auto from = view(c, "C", second, options.beta == 0.0 && !c_data ? d_data : c_data);
    tt::reduce(c.executor, binary_of(d.first), text_of({&d.operands[0]}, d.result), view(c, "A", d.operands[0], a),
               view(c, "D", d.result, d_data), options, &from);
  });
}

}  // namespace trn::capi::tensor
