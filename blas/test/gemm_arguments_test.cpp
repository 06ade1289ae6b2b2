// What gemm refuses, and what it says.
#include "gemm_support.hpp"

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/device.hpp>
#include <trn/tile/schedule.hpp>

#include "support/message_of.hpp"

namespace trn::blas::test {
namespace {

using testing_support::message_of;

TEST(GemmArguments, ShapesThatDoNotFitNameAllThree) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 4), b(e, 5, 6), c(e, 3, 6);
  const auto text = message_of<InvalidArgument>([&] { gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); });
  EXPECT_IN("op(A) is 3 x 4 (op N), op(B) is 5 x 6 (op N), C is 3 x 6", text);
}

TEST(GemmArguments, OperandOnAnotherExecutorNamesBoth) {
  const Executor host = Executor::host(), sim = Executor::open("sim:trn2");
  const Matrix<float> a(host, 3, 4), b(sim, 4, 6), c(sim, 3, 6);
  const auto text = message_of<InvalidArgument>([&] { gemm(sim, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); });
  EXPECT_IN("A lives on executor 'host', the call runs on 'sim:trn2'", text);
}

TEST(GemmArguments, TwoSimulatorsOfOneMachineAreTwoMemories) {
  const Executor one = Executor::open("sim:trn2"), two = Executor::open("sim:trn2");
  const Matrix<float> a(one, 2, 2), b(one, 2, 2), c(two, 2, 2);
  EXPECT_THROW((gemm(one, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view())), InvalidArgument);
}

TEST(GemmArguments, OverlappingOutputIsRefused) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 4, 4), b(e, 4, 4);
  std::vector<float> memory(64);
  for (const auto& [rs, cs] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 1}, {2, 1}, {1, 3}}) {
    const MatrixView<float> c(e, memory.data(), 4, 4, rs, cs);
    EXPECT_IN("elements share places",
              message_of<InvalidArgument>([&] { gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c); }));
  }
  const MatrixView<float> fine(e, memory.data(), 4, 4, 1, 4);
  EXPECT_NO_THROW((gemm(e, Op::N, Op::N, 0, a.view(), b.view(), 0, fine)));
}

// The bounds of the elements have memory of their own.
TEST(GemmArguments, ComponentwiseBoundsSharedWithOperands) {
  const Executor e = Executor::host();
  std::vector<double> memory(16, 1.0);
  const Matrix<double> a(e, 2, 2), b(e, 2, 2);
  const MatrixView<double> c = MatrixView<double>::row_major(e, memory.data(), 2, 2);
  const auto refused = [&](MatrixView<double> bounds) {
    return message_of<InvalidArgument>([&] {
      gemm(e, Op::N, Op::N, 1.0, a.view(), b.view(), 0.0, c, {.precision = Mode::Exact, .componentwise = bounds});
    });
  };
  EXPECT_IN("the componentwise bound shares memory with C", refused(c));
  EXPECT_IN("the componentwise bound shares memory with A", refused(a.view()));
  EXPECT_IN("elements share places", refused(MatrixView<double>(e, memory.data() + 8, 2, 2, 0, 1)));
  EXPECT_EQ(memory, std::vector<double>(16, 1.0));
}

// Rows that interleave but share no place are an output like any other.
TEST(GemmArguments, InterleavedOutput) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const auto a = Matrix<float>::from_host(e, 3, 2, std::vector<float>{1, 2, 3, 4, 5, 6});
    const auto b = Matrix<float>::from_host(e, 2, 2, std::vector<float>{1, -1, 2, 0.5f});
    const Array<float> memory = Array<float>::from_host(e, {9}, std::vector<float>(9, -7));
    gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, MatrixView<float>(e, memory.data(), 3, 2, 2, 3));
    // C is {5, 0}, {11, -1}, {17, -2}, element (i, j) at 2 i + 3 j.
    EXPECT_EQ(memory.to_host(), (std::vector<float>{5, -7, 11, 0, 17, -1, -7, -2, -7})) << name;
  }
}

// Inputs may be read-only memory.
TEST(GemmArguments, InputsMayBeConst) {
  const Executor e = Executor::host();
  const std::vector<float> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::vector<float> c(4);
  gemm(e, Op::N, Op::N, 1, MatrixView<const float>::row_major(e, a.data(), 2, 2),
       MatrixView<const float>::row_major(e, b.data(), 2, 2), 0, MatrixView<float>::row_major(e, c.data(), 2, 2));
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));
}

// Matrices, arrays, their views, in every place: the same product.
TEST(GemmArguments, MatricesArraysAndViewsAlike) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const std::vector<float> x{1, 2, 3, 4, 5, 6}, y{7, 8, 9, 10, 11, 12}, xy{58, 64, 139, 154};
    const auto check = [&](const auto& a, const auto& b) {
      const Matrix<float> matrix(e, 2, 2);
      gemm(e, Op::N, Op::N, 1, a, b, 0, matrix);
      EXPECT_EQ(matrix.to_host(), xy) << name;
      const Array<float> array(e, {2, 2}), other(e, {2, 2});
      gemm(e, Op::N, Op::N, 1, a, b, 0, array, {.precision = Mode::Exact});
      EXPECT_EQ(array.to_host(), xy) << name;
      gemm(e, Op::N, Op::N, 1, a, b, 0, other.view());
      EXPECT_EQ(other.to_host(), xy) << name;
      EXPECT_EQ(gemm(e, a, b).to_host(), xy) << name;
    };
    const auto ma = Matrix<float>::from_host(e, 2, 3, x), mb = Matrix<float>::from_host(e, 3, 2, y);
    const auto aa = Array<float>::from_host(e, {2, 3}, x), ab = Array<float>::from_host(e, {3, 2}, y);
    check(ma, mb);
    check(aa, ab);
    check(ma, ab.view());
    check(View<const float>(aa), mb.view());
    check(MatrixView<const float>(ma), ab);
  }
}

TEST(GemmArguments, ArraysHaveTwoExtents) {
  const Executor e = Executor::host();
  const Array<float> a(e, {4, 4}), line(e, {16}), box(e, {4, 4, 1});
  const auto text = [&](const auto& x, const auto& y, const auto& z) {
    return message_of<InvalidArgument>([&] { gemm(e, Op::N, Op::N, 1, x, y, 0, z); });
  };
  EXPECT_EQ(text(line, a, a), "blas.gemm: A has rank 1, shape (16); a matrix has rank 2");
  EXPECT_EQ(text(a, box, a), "blas.gemm: B has rank 3, shape (4, 4, 1); a matrix has rank 2");
  EXPECT_EQ(text(a, a, line), "blas.gemm: C has rank 1, shape (16); a matrix has rank 2");
}

TEST(GemmArguments, NullDataIsRefused) {
  const Executor e = Executor::host();
  const Matrix<float> b(e, 4, 4), c(e, 4, 4);
  const MatrixView<float> a(e, nullptr, 4, 4, 4, 1);
  EXPECT_IN("its pointer is null",
            message_of<InvalidArgument>([&] { gemm(e, Op::N, Op::N, 1, a, b.view(), 0, c.view()); }));
}

TEST(GemmArguments, Float64IsForTheHost) {
  const Executor e = Executor::open("sim:trn2");
  const Matrix<double> a(e, 4, 4), b(e, 4, 4), c(e, 4, 4);
  EXPECT_IN("precision 'native' is not offered for float64 operands on the device; use one of: exact",
            message_of<NotImplemented>([&] { gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); }));
}

TEST(GemmArguments, NothingIsWrittenWhenACallIsRefused) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> seven(16, 7);
  const auto c = Matrix<float>::from_host(e, 4, 4, seven);
  const Matrix<float> a(e, 4, 3), b(e, 4, 4);
  EXPECT_THROW((gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view())), InvalidArgument);
  EXPECT_EQ(c.to_host(), seven);
}

// Memory that nobody wrote is not silently zero on the device.
TEST(GemmArguments, UninitialisedOperandIsReported) {
  const Executor e = Executor::open("sim:trn2");
  const Matrix<float> a(e, 4, 4), b(e, 4, 4), c(e, 4, 4);
  const auto check_of = [&](auto call) -> std::string {
    try {
      call();
    } catch (const DeviceError& error) {
      return error.check();
    }
    return "none";
  };
  EXPECT_EQ(check_of([&] {
              gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view());
              e.synchronize();
            }),
            "uninitialised-read");
}

// Views that reach outside their array, and memory that is not the device's at all.
TEST(GemmArguments, MemoryOutsideTheDeviceIsReported) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> ones(64 * 64, 1);
  const auto a = Matrix<float>::from_host(e, 64, 64, ones), b = Matrix<float>::from_host(e, 64, 64, ones);
  // One element beyond its own end, where no other array can begin.
  const Matrix<float> c(e, 64, 64);
  const MatrixView<float> too_large(e, c.data() + 1, 64, 64, 64, 1);
  EXPECT_IN("tensor 'c' of 16384 bytes",
            message_of<DeviceError>([&] { gemm(e, Op::N, Op::N, 1, a.view(), b.view(), 0, too_large); }));
  std::vector<float> mine = ones;
  const MatrixView<float> on_host(e, mine.data(), 64, 64, 64, 1);
  EXPECT_IN("outside the arrays of this device",
            message_of<DeviceError>([&] { gemm(e, Op::N, Op::N, 1, on_host, b.view(), 0, a.view()); }));
}

TEST(GemmArguments, OutputThatSharesMemoryWithAnInputIsRefused) {
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor e = Executor::open(name);
    const std::vector<float> ones(100, 1);
    const auto big = Matrix<float>::from_host(e, 10, 10, ones), other = Matrix<float>::from_host(e, 10, 10, ones);
    const auto refused = [&](const MatrixView<float>& a, const MatrixView<float>& b, const MatrixView<float>& c) {
      return message_of<InvalidArgument>([&] { gemm(e, Op::N, Op::N, 1, a, b, 0, c); });
    };
    EXPECT_IN("C shares memory with A", refused(big.view(), other.view(), big.view()));
    EXPECT_IN("C shares memory with B", refused(other.view(), big.view(), big.view()));
    // Blocks of one matrix: overlapping ones are refused, disjoint ones are what LAPACK does all day.
    EXPECT_IN("C shares memory with A",
              refused(big.view().block(0, 0, 4, 4), other.view().block(0, 0, 4, 4), big.view().block(3, 3, 4, 4)));
    EXPECT_IN("C shares memory with A",
              refused(big.view().block(3, 3, 4, 4), other.view().block(0, 0, 4, 4), big.view().block(0, 6, 4, 4)));
    EXPECT_EQ(refused(big.view().block(0, 0, 4, 4), big.view().block(0, 4, 4, 4), big.view().block(4, 4, 4, 4)),
              "no error");
    EXPECT_EQ(refused(big.view().block(5, 5, 4, 4), big.view().block(0, 5, 4, 4), big.view().block(5, 0, 4, 4)),
              "no error");
  }
}

TEST(GemmProgram, OperandsLargerThanTheMachineAreRefused) {
  for (const std::int64_t m : {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    const GemmShape shape{DType::Float32, DType::Float32, m, 64, 64, 64, 1, 64, 1, 64, 1};
    EXPECT_THROW((void)gemm_program(shape, tile::machine("trn2")), InvalidArgument);
  }
}

TEST(GemmProgram, OtherFactorsNeedNoOtherProgram) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> ones(64, 1);
  const auto a = Matrix<float>::from_host(e, 8, 8, ones), b = Matrix<float>::from_host(e, 8, 8, ones),
             c = Matrix<float>::from_host(e, 8, 8, ones);
  Recorder recorder(e);
  for (const float alpha : {2.0f, -3.0f, NAN, INFINITY, 0.5f}) {
    gemm(e, Op::N, Op::N, alpha, a.view(), b.view(), 0, c.view());
    const float got = c.to_host()[0], want = alpha * 8;
    EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << alpha << ' ' << got;
  }
  EXPECT_EQ(recorder.count(EventKind::Build), 1);
}

// Every layout and dtype at many shapes: the program fits the machine.
TEST(GemmProgram, FitsForEveryShape) {
  const std::int64_t sizes[] = {1, 127, 129, 512, 513, 1025, 2600};
  for (const tile::Machine& machine : tile::machines()) {
    for (const DType in : {DType::Float32, DType::BFloat16}) {
      for (const std::int64_t m : sizes) {
        for (const std::int64_t n : sizes) {
          for (const std::int64_t k : {1L, 130L, 512L, 5000L, 70000L}) {
            for (int layout = 0; layout < 4; ++layout) {
              GemmShape s{in, in, m, n, k, k, 1, n, 1, n, 1, Factor::Input, layout % 2 ? Factor::Zero : Factor::Input};
              if (layout & 1) s.am = 1, s.ak = m;
              if (layout & 2) s.bk = 1, s.bn = k;
              ASSERT_NO_THROW((void)tile::allocate(tile::schedule(gemm_program(s, machine), machine), machine))
                  << machine.name << ' ' << m << " x " << n << " x " << k << " layout " << layout;
            }
          }
        }
      }
    }
  }
}

TEST(GemmProgram, IsAPureFunctionOfItsArguments) {
  const GemmShape shape{DType::BFloat16, DType::Float32, 300, 700, 200, 200, 1, 700, 1, 700, 1};
  for (const tile::Machine& m : tile::machines()) EXPECT_EQ(gemm_program(shape, m), gemm_program(shape, m)) << m.name;
  EXPECT_FALSE(gemm_program(shape, tile::machine("trn1")) == gemm_program(shape, tile::machine("trn2")));
}

TEST(GemmProgram, IsBuiltOncePerShape) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> ones(64, 1);
  const auto a = Matrix<float>::from_host(e, 8, 8, ones), b = Matrix<float>::from_host(e, 8, 8, ones);
  Recorder recorder(e);
  (void)gemm(e, a, b);
  (void)gemm(e, a, b);
  EXPECT_EQ(recorder.count(EventKind::Build), 1);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 1);
  EXPECT_EQ(recorder.count(EventKind::Run), 2);
}

TEST(GemmProgram, RunsOnItsOwnMachineOnly) {
  const GemmShape shape{DType::Float32, DType::Float32, 8, 8, 8, 8, 1, 8, 1, 8, 1};
  std::vector<float> memory(64, 1);
  const std::vector<tile::Binding> bindings{{"a", memory.data()}, {"b", memory.data()}, {"c", memory.data()}};
  EXPECT_IN("was built for trn1, this is trn2", message_of<InvalidArgument>([&] {
              (void)neuron::simulate(gemm_program(shape, tile::machine("trn1")), tile::machine("trn2"), bindings);
            }));
}

}  // namespace
}  // namespace trn::blas::test
