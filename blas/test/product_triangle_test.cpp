// Products with triangles on the device: a triangle of C, a symmetric, Hermitian or triangular operand. What is not
// named holds NaN, so that reading it would show, and must be as it was afterwards.
#include "product_support.hpp"

namespace trn::blas::test::product {
namespace {

// NaN in every element of x outside the triangle, in the diagonal if it is not read, in its imaginary parts if those
// are not.
void poison(Plane& x, Region stored, bool diagonal, bool imaginary_diagonal) {
  for (std::int64_t i = 0; i < x.rows; ++i) {
    for (std::int64_t j = 0; j < x.columns; ++j) {
      const bool inside = i == j || (stored == Region::Lower ? j < i : j > i);
      if (!inside || (i == j && diagonal)) x.memory[x.at(i, j)] = NAN;
      if (x.im != 0 && (!inside || (i == j && (diagonal || imaginary_diagonal))))
        x.memory[x.at(i, j) + static_cast<std::size_t>(x.im)] = NAN;
    }
  }
}

Problem triangle_of_c(DType type, Mode mode, std::int64_t n, std::int64_t k, Region region, bool hermitian,
                      Order2 order, bool same, std::uint64_t seed) {
  Problem p = Problem::make(type, mode, n, n, k, order, order == Order2::Row ? Order2::Column : Order2::Row, seed);
  p.shape.region = region;
  p.shape.hermitian = hermitian;
  p.shape.conj_b = hermitian;
  p.shape.same_operand = same;
  p.set_factors(0.5f, 0.75f);
  poison(p.c, region, false, hermitian);
  return p;
}

TEST(ProductTriangle, RankKUpdates) {
  std::uint64_t seed = 1;
  for (const Region region : {Region::Lower, Region::Upper}) {
    for (const Order2 order : kOrders) {
      for (const std::int64_t n : {1, 127, 128, 131, 300}) {
        triangle_of_c(DType::Float32, Mode::Native, n, 70, region, false, order, true, seed++).check("trn2");
      }
      triangle_of_c(DType::Float32, Mode::Tf32x3, 260, 131, region, false, order, false, seed++).check("trn2");
      triangle_of_c(DType::Complex64, Mode::Native, 150, 60, region, true, order, true, seed++).check("trn1");
      triangle_of_c(DType::Complex64, Mode::Native, 150, 60, region, false, order, false, seed++).check("trn3");
      triangle_of_c(DType::Complex64, Mode::Tf32x3, 135, 140, region, true, order, true, seed++).check("trn2");
    }
  }
}

TEST(ProductTriangle, RankKOfManyBlocks) {
  for (const Region region : {Region::Lower, Region::Upper}) {
    triangle_of_c(DType::Float32, Mode::Native, 1300, 140, region, false, Order2::Row, true, 101).check("trn2");
    triangle_of_c(DType::Float32, Mode::Tf32x3, 1300, 140, region, false, Order2::Column, true, 102).check("trn2");
  }
}

Problem structured(DType type, Mode mode, Structure structure, bool on_left, Region stored, bool unit, std::int64_t m,
                   std::int64_t n, Order2 a, Order2 b, std::uint64_t seed) {
  Problem p = Problem::make(type, mode, m, n, on_left ? m : n, a, b, seed);
  (on_left ? p.shape.a_structure : p.shape.b_structure) = structure;
  p.shape.stored = stored;
  p.shape.unit_diagonal = unit;
  (on_left ? p.shape.conj_a : p.shape.conj_b) = is_complex(type) && seed % 2 == 0;
  poison(on_left ? p.a : p.b, stored, unit, structure == Structure::Hermitian);
  p.set_factors(is_complex(type) ? std::complex<float>(0.5f, 0.25f) : std::complex<float>(0.5f),
                structure == Structure::Triangular ? 0.0f : 0.75f);
  return p;
}

TEST(ProductTriangle, EveryStructureSideTriangleAndLayout) {
  std::uint64_t seed = 201;
  for (const Structure structure : {Structure::Symmetric, Structure::Hermitian, Structure::Triangular}) {
    for (const bool left : {true, false}) {
      for (const Region stored : {Region::Lower, Region::Upper}) {
        for (const Order2 order : kOrders) {
          const bool unit = structure == Structure::Triangular && seed % 3 == 0;
          const char* machine = kMachines[seed % 3];
          if (structure != Structure::Hermitian) {
            structured(DType::Float32, Mode::Native, structure, left, stored, unit, 131, 140, order, order, seed++)
                .check(machine);
            structured(DType::Float32, Mode::Tf32x3, structure, left, stored,
                       !unit && structure == Structure::Triangular, 300, 290, order, Order2::Row, seed++)
                .check("trn2");
          }
          structured(DType::Complex64, Mode::Native, structure, left, stored, unit, 140, 131, order, order, seed++)
              .check(machine);
        }
      }
    }
  }
}

TEST(ProductTriangle, TriangularOfManyBlocks) {
  std::uint64_t seed = 301;
  for (const bool left : {true, false}) {
    for (const Region stored : {Region::Lower, Region::Upper}) {
      structured(DType::Float32, Mode::Native, Structure::Triangular, left, stored, false, left ? 1300 : 150,
                 left ? 150 : 1300, Order2::Row, Order2::Row, seed++)
          .check("trn2");
      structured(DType::Float32, Mode::Tf32x3, Structure::Triangular, left, stored, true, left ? 1200 : 150,
                 left ? 150 : 1200, Order2::Row, Order2::Row, seed++)
          .check("trn2");
    }
  }
}

// In place: C is the memory of the general operand.
TEST(ProductTriangle, InPlaceGivesTheBitsOfOutOfPlace) {
  for (const bool left : {true, false}) {
    for (const Order2 order : kOrders) {
      Problem p = structured(DType::Float32, Mode::Native, Structure::Triangular, left, Region::Lower, false, 200, 190,
                             order, order, 401);
      Plane& general = left ? p.b : p.a;
      p.c = general;
      if (order == Order2::Column) continue;  // the kernel's C has contiguous rows
      const std::vector<float> apart = p.run("trn2");
      p.shape.in_place = true;
      const tile::Program program = p.program("trn2");
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::vector<float> memory = general.memory, known = (left ? p.a : p.b).memory;
        float alpha = p.alpha.real();
        std::vector<tile::Binding> bindings{{left ? "a" : "b", known.data()},
                                            {left ? "b" : "a", memory.data()},
                                            {"c", memory.data()},
                                            {"alpha", &alpha}};
        (void)neuron::simulate(program, tile::machine("trn2"), bindings,
                               {.order = seed == 0 ? neuron::Order::in_order() : neuron::Order::shuffled(seed)});
        EXPECT_EQ(std::memcmp(memory.data(), apart.data(), memory.size() * sizeof(float)), 0)
            << left << " seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace trn::blas::test::product
