// What gemm refuses, and what it says.
#include "gemm_support.hpp"

#include <trn/blas/gemm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

namespace trn::blas::test {
namespace {

template <class E, class F> std::string message_of(F call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

#define EXPECT_IN(part, text) EXPECT_NE(std::string(text).find(part), std::string::npos) << "got: " << (text)

TEST(GemmArguments, ShapesThatDoNotFitNameAllThree) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 3, 4), b(e, 5, 6), c(e, 3, 6);
  const auto text = message_of<InvalidArgument>([&] { gemm<float, float>(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); });
  EXPECT_IN("op(A) is 3 x 4 (op N), op(B) is 5 x 6 (op N), C is 3 x 6", text);
}

TEST(GemmArguments, OperandOnAnotherExecutorNamesBoth) {
  const Executor host = Executor::host(), sim = Executor::open("sim:trn2");
  const Matrix<float> a(host, 3, 4), b(sim, 4, 6), c(sim, 3, 6);
  const auto text = message_of<InvalidArgument>([&] { gemm<float, float>(sim, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); });
  EXPECT_IN("A lives on executor 'host', the call runs on 'sim:trn2'", text);
}

TEST(GemmArguments, TwoSimulatorsOfOneMachineAreTwoMemories) {
  const Executor one = Executor::open("sim:trn2"), two = Executor::open("sim:trn2");
  const Matrix<float> a(one, 2, 2), b(one, 2, 2), c(two, 2, 2);
  EXPECT_THROW((gemm<float, float>(one, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view())), InvalidArgument);
}

TEST(GemmArguments, OverlappingOutputIsRefused) {
  const Executor e = Executor::host();
  const Matrix<float> a(e, 4, 4), b(e, 4, 4);
  std::vector<float> memory(64);
  for (const auto& [rs, cs] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 1}, {2, 1}, {1, 3}}) {
    const MatrixView<float> c(e, memory.data(), 4, 4, rs, cs);
    EXPECT_IN("elements overlap", message_of<InvalidArgument>([&] { gemm<float, float>(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c); }));
  }
  const MatrixView<float> fine(e, memory.data(), 4, 4, 1, 4);
  EXPECT_NO_THROW((gemm<float, float>(e, Op::N, Op::N, 0, a.view(), b.view(), 0, fine)));
}

TEST(GemmArguments, NullDataIsRefused) {
  const Executor e = Executor::host();
  const Matrix<float> b(e, 4, 4), c(e, 4, 4);
  const MatrixView<float> a(e, nullptr, 4, 4, 4, 1);
  EXPECT_IN("its pointer is null", message_of<InvalidArgument>([&] { gemm<float, float>(e, Op::N, Op::N, 1, a, b.view(), 0, c.view()); }));
}

TEST(GemmArguments, Float64IsForTheHost) {
  const Executor e = Executor::open("sim:trn2");
  const Matrix<double> a(e, 4, 4), b(e, 4, 4), c(e, 4, 4);
  EXPECT_IN("no float64; use the host executor",
            message_of<NotImplemented>([&] { gemm<double, double>(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); }));
}

TEST(GemmArguments, NothingIsWrittenWhenACallIsRefused) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> seven(16, 7);
  const auto c = Matrix<float>::from_host(e, 4, 4, seven);
  const Matrix<float> a(e, 4, 3), b(e, 4, 4);
  EXPECT_THROW((gemm<float, float>(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view())), InvalidArgument);
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
  EXPECT_EQ(check_of([&] { gemm<float, float>(e, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view()); }), "uninitialised-read");
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
