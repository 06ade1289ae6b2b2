// Contraction of block-sparse tensors: the blocks come and go as arrays, one by one.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <trn/tensor/block_sparse.hpp>

#include "bindings.hpp"
#include "call.hpp"

namespace trn::python {
namespace {

using Numbers = std::vector<std::vector<std::int64_t>>;

struct Side {
  tensor::BlockTensor tensor;
  std::vector<Operand> kept;
  std::vector<const void*> addresses;
};

Side side(Call& call, const Numbers& sections, const Numbers& blocks, const std::vector<nb::object>& arrays, DType type,
          const char* name) {
  Side s{{sections, blocks, type}, {}, {}};
  require(blocks.size() == arrays.size(), "tensor.block_contract: {} has {} blocks and {} arrays", name, blocks.size(),
          arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    s.kept.push_back(call.in(arrays[i], name, only(type)));
    s.tensor.strides.push_back(s.kept.back().strides);
    s.addresses.push_back(s.kept.back().data);
  }
  return s;
}

// (sections, blocks, arrays, accuracy, products, flops) of the result.
nb::object contract(const std::string& text, const Numbers& sections_a, const Numbers& blocks_a,
                    const std::vector<nb::object>& a, const Numbers& sections_b, const Numbers& blocks_b,
                    const std::vector<nb::object>& b, const std::string& type, nb::handle precision,
                    nb::handle executor) {
  std::vector<nb::handle> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  Call call("tensor.block_contract", executor, all);
  const DType t = parse_dtype(type);
  Side left = side(call, sections_a, blocks_a, a, t, "a"), right = side(call, sections_b, blocks_b, b, t, "b");
  const tensor::Expression expression = tensor::parse(text);
  const tensor::BlockTensor d = tensor::product_blocks(expression, left.tensor, right.tensor);
  const tensor::BlockPlan plan(call.executor(),
                               {expression, left.tensor, right.tensor, d, {}, precision_of(precision)});
  std::vector<Operand> results;
  std::vector<void*> to;
  for (std::size_t i = 0; i < d.blocks.size(); ++i) {
    results.push_back(call.zeros(t, d.shape(i)));
    to.push_back(results.back().data);
  }
  Accuracy bound;
  call.run([&] { bound = plan.execute(left.addresses, right.addresses, to); });
  nb::list arrays;
  for (const Operand& o : results) arrays.append(call.result(o));
  return nb::make_tuple(d.sections, d.blocks, arrays, bound, plan.products(), plan.flops());
}

}  // namespace

void bind_block_sparse(nb::module_& m) {
  m.def("block_contract", &contract, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg().none(), nb::arg().none());
}

}  // namespace trn::python
