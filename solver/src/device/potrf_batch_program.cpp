// Cholesky's factorisation of a batch, one matrix in each partition.
//
// W = the named triangle with zeros beside it. Step k subtracts W(i,k) W(j,k) / W(k,k) from all W(i,j) with i, j > k:
// three dependent Vector instructions, the last two of (n - k)^2 elements; only the triangle is used. What is left in
// column k is L(.,k) L(k,k), and one product with the inverse roots of the diagonal makes the factor of all columns.
// Error: as that of the 128-panel, (n + 8) u |L||L^T|: a term has one rounding more than LAPACK's, and the root two.
#include <trn/tile/stores.hpp>

#include "device/lanes.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;

Program potrf_batch_program(const BatchProgramShape& s, const Machine& machine) {
  Builder b("solver_potrf_batch", machine);
  const std::int64_t n = s.n;
  Lanes lanes(b, s);
  const Access a = lanes.input("a"), factor = b.output_over("factor", a);
  const Access pivots = b.output("pivots", DType::Float32, {s.count, n}),
               flags = b.output("flags", DType::Float32, {s.count, 1});
  const Access mask = lanes.lower(n), falling = lanes.falling();
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const Access loaded = lanes.loaded(count), w = lanes.tile("w", count, {n, n}),
                 products = lanes.tile("products", count, {n * n}), d = lanes.tile("d", count, {n}),
                 root = lanes.tile("root", count, {n}), t = lanes.tile("t", count, {n}),
                 flag = lanes.tile("flag", count, {1}), r = lanes.tile("r", count, {1});
    b.dma_copy(loaded, lanes.turned(a(here)));
    Access named = lanes.matrix(loaded);
    if (s.upper) named = named.permute({1, 0});
    const Access lower = mask(ds(0, count)), all_products = products.split(0, n);
    b.memset(w, 0, Engine::Vector);
    b.tensor_copy_predicated(w, named, lower);
    const Access places = falling(ds(0, count));
    lanes.flag(flag, w, all_products, s.upper ? places.permute({1, 0}) : places);
    for (std::int64_t k = 0; k + 1 < n; ++k) {
      const std::int64_t rest = n - 1 - k;
      const Access part = products(all, ds(0, rest * rest)).split(0, rest), under = column_of(w, k, k + 1, rest),
                   square = w(all, ds(k + 1, rest), ds(k + 1, rest));
      b.reciprocal(r, element_of(w, k, k));
      b.scalar_tensor_tensor(part, along_rows(under, rest), AluOp::Multiply, r, AluOp::Multiply,
                             along_columns(under, rest));
      b.tensor_tensor(square, square, part, AluOp::Subtract, Engine::Vector);
    }
    b.tensor_copy(d, diagonal_of(w, 0, 0, n), Engine::Vector);
    lanes.inverse_root(root, d, t);
    b.tensor_tensor(all_products, w, along_columns(root, n), AluOp::Multiply, Engine::Vector);
    b.tensor_copy_predicated(named, all_products, lower);
    b.dma_copy(lanes.turned(factor(here)), loaded);
    b.dma_copy(pivots(here), d);
    b.dma_copy(flags(here), flag);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
