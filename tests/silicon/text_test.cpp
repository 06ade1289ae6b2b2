// Runs whose results come from the emitted text in the NumPy stand-in (the fake's rule `text`): names, flat strides and
// aliases are those of the text.
#include <gtest/gtest.h>

#include "silicon/programs.hpp"
#include "silicon/surroundings.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
namespace {

std::string check_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const DeviceError& e) {
    return e.check();
  }
  return "none";
}

class NeuronText : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flavours, NeuronText, ::testing::ValuesIn(kFlavours),
                         [](const auto& flavour) { return std::string(flavour.param); });

TEST_P(NeuronText, ComputesWhatTheProgramDoes) {
  FakeRuntime fake("text", GetParam());
  const Executor e = open_fake({.machine = "trn2"}, "", true);
  const std::vector<float> values = numbers(1);
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, values);
  const Array<float> y(e, {kRows, kColumns});
  twice(e, x, y);
  tile::launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
  std::vector<float> wanted;
  for (const float v : values) wanted.push_back(v + 2 * v);
  EXPECT_EQ(y.to_host(), wanted);
}

struct Strided {
  bool operator==(const Strided&) const = default;
};
// y = x transposed in memory, with gaps: both are flat memory to the kernel, y an argument that it stores into.
tile::Program strided_program(const Strided&, const tile::Machine& machine) {
  tile::Builder b("strided", machine);
  const tile::Access x = b.input("x", DType::Float32, {4, 8}, {1, 5}),
                     y = b.output("y", DType::Float32, {4, 8}, {10, 1}), t = b.sbuf("t", 4, {8}, DType::Float32);
  b.dma_copy(t, x);
  b.dma_copy(y, t);
  return b.finish();
}

TEST_P(NeuronText, StridesAreFlatMemory) {
  FakeRuntime fake("text", GetParam());
  const Executor e = open_fake({.machine = "trn2"}, "", true);
  std::vector<float> values(40), before(40, -1);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto x = Array<float>::from_host(e, {40}, values), y = Array<float>::from_host(e, {40}, before);
  tile::launch(e, strided_program, Strided{}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
  const std::vector<float> found = y.to_host();
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t k = 0; k < 10 && 10 * i + k < 40; ++k) {
      EXPECT_EQ(found[10 * i + k], k < 8 ? values[i + 5 * k] : -1) << i << " " << k;
    }
  }
}

// What the text does otherwise than the NEFF says is an error with the reason, not a result.
TEST(NeuronTexts, TextsThatAreNotTheKernels) {
  const auto id_with = [](const char* from, const char* to, const char* reason) {
    FakeRuntime fake("text");
    fake.expects_violations = true;
    const Executor e = nrt::open_device({}, [from, to](const tile::Program& program) {
      auto made = std::make_shared<FakeNeff>(fake_neff(program, 1, 1, true));
      std::string bytes(reinterpret_cast<const char*>(made->bytes.data()), made->bytes.size());
      const std::size_t at = bytes.find(from, bytes.find("kernel.py"));
      EXPECT_NE(at, std::string::npos) << from;
      bytes.replace(at, std::string_view(to).size(), to);
      std::memcpy(made->bytes.data(), bytes.data(), bytes.size());
      return nrt::Compiled{made, made->bytes, made->manifest, "key", true, 0};
    });
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    const std::string id = check_of([&] { e.synchronize(); });
    EXPECT_NE(fake.violations().find(reason), std::string::npos) << fake.violations();
    return id;
  };
  EXPECT_EQ(id_with("#   x: float32", "#   q: float32", "inputs are ['x']"), "exec-failed");
  EXPECT_EQ(id_with("import nki", "import nko", "ModuleNotFoundError"), "exec-failed");
}

// Program, emitted kernel, worker, cache, NEFF with the text, runtime, stand-in.
TEST(NeuronTexts, TheWholeWay) {
  const Folder folder;
  const Variable cache("TRN_NEFF_CACHE", folder.path.string()), python("TRN_NKI_PYTHON", TRN_FAKE_TOOLCHAIN_PATH);
  FakeRuntime fake("text");
  const Executor e = Executor::open("neuron");
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(3));
  const auto y = Array<float>::from_host(e, {kRows, kColumns}, filled(4));
  tile::launch(e, add_into_program, AddInto{}, {{"x", static_cast<const float*>(x.data())}, {"y", y.data()}});
  EXPECT_EQ(y.to_host(), filled(7));
}

}  // namespace
}  // namespace trn::neuron::testing
