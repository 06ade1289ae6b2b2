// The 128-panel: see panel128.hpp.
//
// Tiles, row of A on partitions unless turned: scaled_ = L D, unit_ = L, inverse_ = (L^-1)^T; scaled_turned_ = (L D)^T,
// inverse_turned_ = L^-1 with pivots on partitions. For the leaf with columns c:
//
//   own rows          A(p, c) - sum_m (L D)(p, m) L(c, m)          stationary scaled_turned_, moving L(c, .)^T
//   of the inverse    I(p, c) - sum_m L^-1(m, p) L(c, m)           stationary inverse_turned_
//
// Modelled on trn2: 0.83 us a column and 3.4 us between leaves.
#include "panel128.hpp"

#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>

namespace trn::solver::device {

using namespace trn::tile;

namespace {

constexpr std::int64_t kLeaf = Panel128::kLeaf, kRow = kLeaf + 2, kOwn = kLeaf, kInverse = kLeaf + 1;
constexpr std::int64_t kQuiet = 2;  // last columns of a leaf that leave the Tensor Engine alone

// (P, X) -> (P, X, size) or (P, size, X), the new dimension repeating.
Access repeat_inner(const Access& x, std::int64_t size) { return x.broadcast(1, size); }
Access repeat_outer(const Access& x, std::int64_t size) { return x.broadcast(0, size); }

// Column `c` of every row of a (P, rows, columns) tile, as (P, rows).
Access column(const Access& x, std::int64_t c) {
  Access one = x(all, all, ds(c, 1));
  one.dims.pop_back();
  return one;
}
// Row `r`, from column `first` on, as (P, columns).
Access row(const Access& x, std::int64_t r, std::int64_t first, std::int64_t count) {
  Access one = x(all, ds(r, 1), ds(first, count));
  one.dims.erase(one.dims.begin());
  return one;
}
Access plane(const Access& x, std::int64_t i) {
  Access one = x(all, ds(i, 1));
  one.dims.erase(one.dims.begin());
  return one;
}

}  // namespace

Panel128::Panel128(Builder& builder, PanelUse use) : b_(builder), use_(use), side_(builder.machine().partitions) {
  const auto sbuf = [&](const char* name, Shape free) { return b_.sbuf(name, side_, std::move(free), DType::Float32); };
  both_ = sbuf("block_and_identity", {2, side_});
  lower_ = b_.sbuf("lower", side_, {side_}, DType::UInt8);
  ones_ = sbuf("ones", {side_});
  leaf_ = sbuf("leaf", {kLeaf, kRow});
  product_ = sbuf("product", {kLeaf * kRow});
  reciprocals_ = sbuf("reciprocals", {kLeaf});
  masked_ = sbuf("masked", {kLeaf, kLeaf});
  scaled_ = sbuf("scaled", {side_});
  unit_ = sbuf("unit", {side_});
  inverses_ = sbuf("inverse", {2, side_});
  inverse_ = plane(inverses_, 0);
  scaled_turned_ = sbuf("scaled_turned", {side_});
  inverse_turned_ = sbuf("inverse_turned", {side_});
  if (use_ == PanelUse::Solves) unit_turned_ = sbuf("unit_turned", {side_});
  factor_ = sbuf("factor", {kLeaf});
  upper_ = sbuf("upper", {side_});
  pivots_ = sbuf("pivot_values", {1});
  root_ = sbuf("root", {1});
  terms_ = sbuf("terms", {side_});
  // One bank for everything that is turned, and the sums; half a bank for the broadcast.
  turned_ = b_.psum("turned", side_, {3, side_});
  sums_ = b_.psum("leaf_sums", side_, {2, kLeaf});
  spread_ = b_.psum("spread", side_, {kLeaf, kLeaf});

  b_.memset(ones_, 1, Engine::Vector);
  // p - c >= 0, and p - c = 0.
  b_.affine_select(scaled_, {{-1, side_}}, 0, 1, AluOp::GreaterEqual, ones_, 0);
  b_.tensor_copy(lower_, scaled_, Engine::Vector);
  b_.affine_select(identity(), {{-1, side_}}, 0, 1, AluOp::Equal, ones_, 0);
}

Access Panel128::block() const { return plane(both_, 0); }
Access Panel128::identity() const { return plane(both_, 1); }

std::int64_t Panel128::calls(std::int64_t order) { return blocks::ceil_div(order, kLeaf) * (kLeaf - kQuiet); }

// The columns first .. first + 15 of A and of the identity less what the columns before contribute.
void Panel128::begin_leaf(std::int64_t first) {
  const Access own = column(leaf_, kOwn), inverse = column(leaf_, kInverse);
  const Slice here = ds(first, kLeaf);
  if (first == 0) {
    b_.tensor_copy(own, block()(all, here), Engine::Vector);
    blocks::scale(b_, inverse, identity()(all, here), 1.0, Engine::Scalar);
    return;
  }
  // The rows of the leaf are 16 of the 32 partitions of their quadrant.
  const std::int64_t quadrant = 2 * kLeaf, start = first / quadrant * quadrant;
  const Access scaled = plane(turned_, 0), factor = plane(turned_, 1), inverse_sums = plane(turned_, 2);
  b_.nc_transpose(scaled, scaled_);
  b_.nc_transpose(factor(all, ds(0, quadrant)), unit_(ds(start, quadrant)));
  b_.nc_transpose(inverse_sums, inverse_);
  blocks::scale(b_, scaled_turned_, scaled, 1.0, Engine::Scalar);
  b_.tensor_copy(factor_, factor(all, ds(first - start, kLeaf)), Engine::Vector);
  b_.nc_matmul(plane(sums_, 0), scaled_turned_, factor_);
  blocks::scale(b_, inverse_turned_, inverse_sums, 1.0, Engine::Scalar);
  b_.tensor_tensor(own, block()(all, here), plane(sums_, 0), AluOp::Subtract, Engine::Vector);
  b_.nc_matmul(plane(sums_, 1), inverse_turned_, factor_);
}

// The leaf's 16 x 16 block on every partition: element (a, b) comes from partition first + b, column a.
void Panel128::broadcast_block(std::int64_t first) {
  const Slice here = ds(first, kLeaf);
  b_.tensor_tensor(masked_, repeat_inner(column(leaf_, kOwn), kLeaf), repeat_outer(identity()(all, here), kLeaf),
                   AluOp::Multiply, Engine::Vector);
  b_.nc_matmul(spread_, ones_, masked_);
  if (first > 0) {
    b_.tensor_tensor(column(leaf_, kInverse), identity()(all, here), plane(sums_, 1), AluOp::Subtract, Engine::Vector);
  }
  // Two engines share the way out of PSUM.
  const std::int64_t half = kLeaf / 2;
  blocks::scale(b_, leaf_(all, ds(half, half), ds(0, kLeaf)), spread_(all, ds(half, half)), 1.0, Engine::Scalar);
  b_.tensor_copy(leaf_(all, ds(0, half), ds(0, kLeaf)), spread_(all, ds(0, half)), Engine::Vector);
}

void Panel128::factor(std::int64_t order, const std::function<void(std::int64_t)>& between) {
  ensure(order >= 1 && order <= side_, "panel128: order {}", order);
  inverse_ = plane(inverses_, calls_++ % 2);
  for (const Access& x : {scaled_, unit_, inverse_}) b_.memset(x, 0, Engine::GpSimd);
  for (std::int64_t first = 0; first < order; first += kLeaf) {
    begin_leaf(first);
    broadcast_block(first);
    for (std::int64_t j = 0; j < kLeaf; ++j) {
      const Access r = reciprocals_(all, ds(j, 1));
      b_.reciprocal(r, row(leaf_, j, j, 1));
      const std::int64_t rows = kLeaf - 1 - j, columns = kRow - 1 - j;
      if (rows > 0) {
        const Access product = product_(all, ds(0, rows * columns)).split(0, columns);
        const Access rest = leaf_(all, ds(j + 1, rows), ds(j + 1, columns));
        b_.scalar_tensor_tensor(product, repeat_inner(row(leaf_, j, j + 1, rows), columns), AluOp::Multiply, r,
                                AluOp::Multiply, repeat_outer(row(leaf_, j, j + 1, columns), rows));
        b_.tensor_tensor(rest, rest, product, AluOp::Subtract, Engine::Vector);
      }
      if (between && j < kLeaf - kQuiet) between(first + j);
    }
    const Slice here = ds(first, kLeaf);
    b_.tensor_copy_predicated(scaled_(all, here), column(leaf_, kOwn), lower_(all, here));  // zero elsewhere, not 0 x
    b_.tensor_tensor(unit_(all, here), scaled_(all, here), reciprocals_, AluOp::Multiply, Engine::Vector);
    b_.tensor_copy(inverse_(all, here), column(leaf_, kInverse), Engine::Vector);
  }
  finish(blocks::ceil_div(order, kLeaf) * kLeaf);
}

// D, D^-1/2 with a Newton step, the turned factors. Pivots that no leaf held are 1, so that nothing infinite arises.
void Panel128::finish(std::int64_t order) {
  if (use_ == PanelUse::Solves) b_.nc_transpose(plane(turned_, 1), unit_);
  b_.nc_transpose(plane(turned_, 0), scaled_);
  if (use_ == PanelUse::Solves) blocks::scale(b_, unit_turned_, plane(turned_, 1), 1.0, Engine::Scalar);
  b_.tensor_tensor(terms_, scaled_, identity(), AluOp::Multiply, Engine::Vector);
  b_.tensor_reduce(pivots_, AluOp::Add, terms_);
  if (order < side_) b_.affine_select(pivots_, {{0, 1}}, order - 1, -1, AluOp::GreaterEqual, pivots_, 1);
  const Access t = terms_(all, ds(0, 1));
  b_.tensor_scalar(root_, pivots_, AluOp::Power, -0.5, {.engine = Engine::Vector});
  b_.tensor_tensor(t, pivots_, root_, AluOp::Multiply, Engine::Vector);
  b_.tensor_tensor(t, t, root_, AluOp::Multiply, Engine::Vector);
  b_.tensor_scalar(t, t, AluOp::Multiply, -0.5, {.op1 = AluOp::Add, .operand1 = 1.5, .engine = Engine::Vector});
  b_.tensor_tensor(root_, root_, t, AluOp::Multiply, Engine::Vector);
  b_.tensor_scalar(upper_, plane(turned_, 0), AluOp::Multiply, root_, {.engine = Engine::Vector});
}

}  // namespace trn::solver::device
