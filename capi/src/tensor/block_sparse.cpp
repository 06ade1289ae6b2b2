// cuTENSOR's block-sparse contraction over trn::tensor::BlockPlan. Sections and coordinates are block after block, as
// the caller lists them; blocks without strides are packed with the first mode fastest. Addresses of blocks are in host
// memory, the blocks in the device's.
#include <cmath>

#include "operands.hpp"

namespace trn::capi::tensor {

using Blocks = trntensorBlockSparseTensorDescriptor;

void create_block_sparse_tensor(Call&, Blocks** out, std::uint32_t modes, std::uint64_t count,
                                const std::uint32_t* sections, const Int* extents, const std::int32_t* coordinates,
                                const Int* strides, trnDataType type) {
  require(out != nullptr, "desc is null; it receives the descriptor");
  require(modes <= 64, "{} modes; there may be 64", modes);
  require((sections != nullptr && extents != nullptr) || modes == 0, "numSectionsPerMode or extent is null");
  require(coordinates != nullptr || modes == 0 || count == 0, "nonZeroCoordinates is null");
  Blocks made{{}, type};
  made.tensor.dtype = dtype_of_type(type);
  for (std::uint32_t m = 0; m < modes; ++m) {
    require(sections[m] >= 1, "mode {} has no section", m);
    made.tensor.sections.emplace_back(extents, extents + sections[m]);
    extents += sections[m];
    for (const Int e : made.tensor.sections.back()) require(e >= 1, "an extent is {}; it must be >= 1", e);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<Int>& at = made.tensor.blocks.emplace_back();
    std::vector<Int> shape;
    for (std::uint32_t m = 0; m < modes; ++m) {
      at.push_back(coordinates[i * modes + m]);
      require(at[m] >= 0 && at[m] < static_cast<Int>(made.tensor.sections[m].size()),
              "block {} is in section {} of mode {}, which has {}", i, at[m], m, made.tensor.sections[m].size());
      shape.push_back(made.tensor.sections[m][static_cast<std::size_t>(at[m])]);
    }
    const std::vector<Int> steps =
        strides ? std::vector<Int>(strides + i * modes, strides + (i + 1) * modes) : packed(shape);
    made.tensor.strides.emplace_back(steps.begin(), steps.end());
  }
  *out = alive<Blocks>().add(std::make_shared<Blocks>(std::move(made)));
}

void create_block_sparse_contraction(Call&, Descriptor** out, Blocks* a, const std::int32_t* ma, trntensorOperator_t oa,
                                     Blocks* b, const std::int32_t* mb, trntensorOperator_t ob, Blocks* c,
                                     const std::int32_t* mc, trntensorOperator_t oc, Blocks* d, const std::int32_t* md,
                                     trntensorComputeDescriptor_t compute) {
  const auto modes = [](const Blocks& t, const std::int32_t* list) {
    require(list != nullptr || t.tensor.sections.empty(), "the modes are null");
    return std::vector<std::int32_t>(list, list + t.tensor.sections.size());
  };
  const auto la = look(a), lb = look(b), lc = look(c), ld = look(d);
  const auto of_a = modes(*la, ma), of_b = modes(*lb, mb), of_c = modes(*lc, mc), of_d = modes(*ld, md);
  require(of_c == of_d, "the modes of C are not D's");
  tt::BlockDescription what{tt::parse(text_of({&of_a, &of_b}, of_d)), la->tensor, lb->tensor, ld->tensor, lc->tensor};
  what.a.op = unary_of(oa), what.b.op = unary_of(ob), what.c->op = unary_of(oc);
  Descriptor made{.kind = Kind::BlockSparse, .operands = {}, .result = {{}, {}, ld->type, of_d, tt::Unary::Identity}};
  made.blocks = std::make_shared<const tt::BlockDescription>(std::move(what));
  (void)block_flops(made);  // what is wrong with the blocks is said here
  give(out, std::move(made), compute);
}

double block_flops(const Descriptor& d) { return tt::BlockPlan(Executor::host(), *d.blocks).flops(); }
double block_bytes(const Descriptor& d) {
  double sum = 0;
  for (const tt::BlockTensor* t : {&d.blocks->a, &d.blocks->b, &*d.blocks->c, &d.blocks->output}) {
    for (std::size_t i = 0; i < t->blocks.size(); ++i)
      sum += static_cast<double>(byte_count(t->shape(i), size_bytes(t->dtype)));
  }
  return sum;
}

void block_sparse_contract(Call& c, trntensorPlan_t plan, const void* alpha, const void* const* a, const void* const* b,
                           const void* beta, const void* const* c_data, void* const* d, void*, std::uint64_t,
                           trnStream_t stream) {
  const auto p = look(plan);
  require(p->operation.kind == Kind::BlockSparse, "the plan is for another operation");
  run(*stream_of(stream), [&] {
    const auto type = scalar_type(p->operation);
    const tt::Scalars scalars{number(type, alpha, "alpha"), number(type, beta, "beta")};
    const tt::BlockDescription& what = p->sparse->description();
    // Where the bytes of each block lie.
    const auto list = [&]<class P>(const char* name, const tt::BlockTensor& t, P* const* blocks) {
      const std::size_t count = t.blocks.size();
      require(blocks != nullptr || count == 0, "{} is null; it has the addresses of {} blocks", name, count);
      std::vector<P*> found;
      for (std::size_t i = 0; i < count; ++i) {
        const OffsetRange range = offset_range(t.shape(i), t.strides_of(i));
        const Int size = size_bytes(t.dtype), first = range.lowest * size;
        const auto* const at = static_cast<const std::byte*>(blocks[i]) + first;
        const Int shift = device_shift(*c.handle.device, name, at, (range.highest - range.lowest + 1) * size);
        found.push_back(reinterpret_cast<P*>(reinterpret_cast<std::intptr_t>(blocks[i]) + shift));
      }
      return found;
    };
    const auto from_a = list("A", what.a, a), from_b = list("B", what.b, b);
    const auto to = list("D", what.output, d);
    // A factor of zero leaves C unread: it may be null.
    const auto old = scalars.beta == 0.0 ? std::vector<const void*>() : list("C", *what.c, c_data);
    (void)p->sparse->execute(from_a, from_b, to, scalars, old);
  });
}

}  // namespace trn::capi::tensor
