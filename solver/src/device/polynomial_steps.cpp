// Polynomial steps in SBUF: see polynomial_steps.hpp.
#include "device/polynomial_steps.hpp"

#include <cmath>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>

namespace trn::solver::device {

using namespace trn::tile;

PolynomialSteps::PolynomialSteps(Builder& builder, BlockProducts& products, std::int64_t count, std::int64_t rows,
                                 std::int64_t columns, bool symmetric)
    : b_(builder), products_(products), blocks_(columns / builder.machine().partitions), symmetric_(symmetric) {
  for (std::int64_t t = 0; t < count; ++t) {
    x_.push_back(products_.matrix(fmt::format("x{}", t), rows, columns));
    y_.push_back(products_.matrix(fmt::format("y{}", t), columns, rows));
    m_.push_back(products_.matrix(fmt::format("m{}", t), columns, columns));
    q_.push_back(products_.matrix(fmt::format("q{}", t), columns, columns));
  }
}

// M = factor X^T X.
void PolynomialSteps::square(double factor) {
  for (std::size_t t = 0; t < count(); ++t) {
    products_.product(x_[t], x_[t], true, [&](const RowStrip& piece, const Access& sums) {
      blocks::scale(b_, BlockProducts::part(m_[t], piece), sums, factor, Engine::Scalar);
      products_.mirror(m_[t], piece);
    });
  }
}

// With M' in m_.
void PolynomialSteps::finish(const SignStep& p) {
  const double ratio = p.b / std::sqrt(p.c);
  for (std::size_t t = 0; t < count(); ++t) {
    products_.product(m_[t], m_[t], true, [&](const RowStrip& piece, const Access& sums) {
      b_.scalar_tensor_tensor(BlockProducts::part(q_[t], piece), BlockProducts::part(m_[t], piece), AluOp::Multiply,
                              ratio, AluOp::Add, sums);
      products_.mirror(q_[t], piece);
    });
  }
  for (std::size_t t = 0; t < count(); ++t) {
    if (!symmetric_) products_.turn(y_[t], x_[t]);
  }
  for (std::size_t t = 0; t < count(); ++t) {
    // Into another tile where X itself is the stationary operand, in place where its transpose is.
    const Access to = symmetric_ ? y_[t] : x_[t], stationary = symmetric_ ? x_[t] : y_[t];
    products_.product(stationary, q_[t], symmetric_, [&](const RowStrip& piece, const Access& sums) {
      b_.scalar_tensor_tensor(BlockProducts::part(to, piece), BlockProducts::part(x_[t], piece), AluOp::Multiply, p.a,
                              AluOp::Add, sums);
      if (symmetric_) {
        products_.symmetrise(to, piece);
        products_.mirror(to, piece);
      }
    });
    if (symmetric_) std::swap(x_[t], y_[t]);
  }
}

void PolynomialSteps::step(const SignStep& p) {
  square(std::sqrt(p.c));
  finish(p);
}

void PolynomialSteps::first(const SignStep& p, const Together& together) {
  square(1);
  const std::int64_t side = b_.machine().partitions;
  const Access sums = b_.psum("norms", side, {1});
  for (std::size_t t = 0; t < count(); ++t) {
    const Access squares = b_.sbuf(fmt::format("squares{}", t), side, {blocks_}, DType::Float32);
    const Access factors = b_.sbuf(fmt::format("factors{}", t), side, {2, blocks_}, DType::Float32);
    products_.squares(squares, m_[t]);
    for (std::int64_t i = 0; i < blocks_; ++i) {
      for (std::int64_t k = 0; k < blocks_; ++k) {
        b_.nc_matmul(sums, together(t, k)(all, ds(i * side, side)), squares(all, ds(k, 1)),
                     {.accumulate = k > 0 ? 1 : 0});
      }
      // ||M_b||_F^-1/2, less than that by what its own roundings may hide; and its square times c^1/2.
      const Access r = factors(all, ds(0, 1), ds(i, 1)), s = factors(all, ds(1, 1), ds(i, 1));
      Access root = r, square_root = s;
      root.dims.erase(root.dims.begin()), square_root.dims.erase(square_root.dims.begin());
      b_.tensor_scalar(root, sums, AluOp::Power, -0.25,
                       {.op1 = AluOp::Multiply, .operand1 = 1 - 0x1p-12, .engine = Engine::Vector});
      b_.tensor_tensor(square_root, root, root, AluOp::Multiply, Engine::Vector);
      b_.tensor_scalar(square_root, square_root, AluOp::Multiply, std::sqrt(p.c), {.engine = Engine::Vector});
      const RowStrip whole{i, 0, blocks_ * side};
      blocks::scale(b_, BlockProducts::part(m_[t], whole), BlockProducts::part(m_[t], whole), square_root,
                    Engine::Scalar);
      if (symmetric_) {
        blocks::scale(b_, BlockProducts::part(x_[t], whole), BlockProducts::part(x_[t], whole), root, Engine::Vector);
      } else if (i == 0) {  // one block: the same factor on every partition
        blocks::scale(b_, x_[t], x_[t], root, Engine::Vector);
      }
    }
  }
  finish(p);
}

void PolynomialSteps::departure(const std::vector<Access>& sums) {
  const std::int64_t side = b_.machine().partitions;
  square(1);
  for (std::size_t t = 0; t < count(); ++t) {
    for (std::int64_t i = 0; i < blocks_; ++i) {
      const Access block = BlockProducts::part(m_[t], {i, i * side, side});
      b_.tensor_tensor(block, block, products_.unit(), AluOp::Subtract, Engine::Vector);
    }
    products_.squares(sums[t], m_[t]);
  }
}

void PolynomialSteps::apply(const SignStep& p) {
  for (std::size_t t = 0; t < count(); ++t) {
    blocks::scale(b_, m_[t], m_[t], std::sqrt(p.c), Engine::Vector);
  }
  finish(p);
}

}  // namespace trn::solver::device
