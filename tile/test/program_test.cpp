// Program as a value: equality and hash see every field, construction refuses indices that point nowhere, and the cache
// and device_of hand programs and devices out.
#include <gtest/gtest.h>

#include <set>
#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>
#include <trn/tile/program.hpp>

#include "fields.hpp"
#include "programs.hpp"

namespace trn::tile {
namespace {

// Visits every leaf field in order and changes the one numbered `target`.
class Perturb {
 public:
  explicit Perturb(int target) : target_(target) {}
  template <class T> void operator()(const char* field, T& value) { change(field, value); }
  [[nodiscard]] bool done() const { return !changed_.empty(); }
  [[nodiscard]] const std::string& changed() const { return changed_; }

  template <class T> void change(const std::string& field, T& value) {
    if constexpr (is_vector<T>) {
      for (auto& element : value) change(field, element);
      if (next()) value.emplace_back(), changed_ = field + " (one more)";
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (next()) value += "x", changed_ = field;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (next()) value = !value, changed_ = field;
    } else if constexpr (std::is_enum_v<T>) {
      if (next()) value = static_cast<T>(static_cast<int>(value) == 0 ? 1 : 0), changed_ = field;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (next()) value = static_cast<T>(value + 1), changed_ = field;
    } else {
      T::visit(value, *this);
    }
  }

 private:
  bool next() { return seen_++ == target_; }
  int target_;
  int seen_ = 0;
  std::string changed_;
};

TEST(Program, EqualBuildsAreEqual) {
  for (const Machine& m : machines()) {
    const Program a = test::every_opcode(m), b = test::every_opcode(m);
    EXPECT_EQ(a, b);
    EXPECT_EQ(a.hash(), b.hash());
  }
  EXPECT_FALSE(test::every_opcode(machine("trn2")) == test::every_opcode(machine("trn3")));
  EXPECT_FALSE(test::every_opcode(machine("trn2")) == test::scale_program(machine("trn2")));
}

// Changing any one field gives another value and another hash. Changes that make an index point nowhere are refused.
TEST(Program, EveryFieldCounts) {
  const Program original = test::every_opcode(machine("trn2"));
  std::set<std::uint64_t> hashes{original.hash()};
  int different = 0, refused = 0;
  for (int target = 0;; ++target) {
    Program::Parts parts = original.parts();
    Perturb perturb(target);
    perturb.change("parts", parts);
    if (!perturb.done()) break;
    EXPECT_FALSE(parts == original.parts()) << perturb.changed();
    try {
      const Program changed(parts);
      EXPECT_FALSE(changed == original) << perturb.changed();
      EXPECT_TRUE(hashes.insert(changed.hash()).second) << perturb.changed();
      ++different;
    } catch (const InternalError&) {
      ++refused;
    }
  }
  EXPECT_GT(different, 1500);
  EXPECT_GT(refused, 100);
  EXPECT_GT(different, refused);
}

TEST(Program, SignedZerosDiffer) {
  const auto with = [](double value) {
    Builder b("zero", machine("trn2"));
    b.memset(b.sbuf("t", 32, {8}, DType::Float32), value);
    return b.finish();
  };
  EXPECT_FALSE(with(0.0) == with(-0.0));
  EXPECT_EQ(with(-0.0), with(-0.0));
}

// Each entry breaks one index of a legal program.
TEST(Program, RefusesIndicesThatPointNowhere) {
  using Change = std::function<void(Program::Parts&)>;
  const std::vector<std::pair<const char*, Change>> changes{
      {"statement -> instruction", [](auto& p) { p.statements.back().index = 99; }},
      {"statement -> tile", [](auto& p) { p.statements[1].index = 1; }},
      {"statement -> loop", [](auto& p) { p.statements[0].index = -1; }},
      {"loop end before its start", [](auto& p) { p.statements[0].end = 0; }},
      {"loop end past the program", [](auto& p) { p.statements[0].end = 6; }},
      {"loop without iterations", [](auto& p) { p.loops[0].trip = 0; }},
      {"operand -> tile", [](auto& p) { p.instructions[0].operands[0].id = 1; }},
      {"operand -> tensor", [](auto& p) { p.instructions[0].operands[1].id = 2; }},
      {"missing operand", [](auto& p) { p.instructions[0].operands[1].target = Target::None; }},
      {"too few operands", [](auto& p) { p.instructions[0].operands.pop_back(); }},
      {"unknown loop variable", [](auto& p) { p.instructions[0].operands[1].offset = Affine::variable(1, 8); }},
      {"another trip count", [](auto& p) { p.instructions[0].operands[1].offset = Affine::variable(0, 9); }},
      {"unknown variable in accumulate",
       [](auto& p) {
         Instruction& i = p.instructions[0];
         i = {Engine::Tensor, {i.operands[0], i.operands[1], i.operands[1]}, isa::NcMatmul{Affine::variable(7, 8)}};
       }},
  };
  const Program original = test::scale_program(machine("trn2"));
  for (const auto& [what, change] : changes) {
    Program::Parts parts = original.parts();
    change(parts);
    EXPECT_THROW(Program{parts}, InternalError) << what;
  }
  EXPECT_NO_THROW(Program{original.parts()});
}

class PaperDevice final : public Device {
 public:
  PaperDevice() : Device("paper", tile::machine("trn2")) {}
  void* allocate(std::int64_t) override { return nullptr; }
  void deallocate(void*, std::int64_t) noexcept override {}
  void copy_in(void*, const void*, std::int64_t) override {}
  void copy_out(void*, const void*, std::int64_t) override {}
  void run(const std::shared_ptr<const Executable>&, std::span<const Binding>) override {}
};

TEST(Device, DeviceOf) {
  const auto device = std::make_shared<PaperDevice>();
  EXPECT_EQ(&device_of(Executor(device)), device.get());
  EXPECT_EQ(device_of(Executor(device)).machine().name, "trn2");
  try {
    (void)device_of(Executor::host());
    FAIL() << "the host has no device";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(
        e.what(),
        "device_of: executor 'host' is of the host family and runs no tile programs; open a device such as sim:trn2");
  }
}

struct ScaleArgs {
  std::string machine;
  bool operator==(const ScaleArgs&) const = default;
};
Program scale(const ScaleArgs& args, const Machine&) { return test::scale_program(machine(args.machine)); }

TEST(Device, ProgramCacheKeepsTheNewestPrograms) {
  PaperDevice device;
  std::vector<EventKind> seen;
  device.events().subscribe([&](const Event& e) { seen.push_back(e.kind); });
  ProgramCache cache(2);
  const auto get = [&](const char* name) { return cache.get(device, scale, ScaleArgs{name}); };
  const auto first = get("trn1");
  EXPECT_EQ(get("trn1"), first);
  (void)get("trn2");
  (void)get("trn1");
  (void)get("trn3");  // drops trn2, the least recently used
  EXPECT_EQ(get("trn1"), first);
  EXPECT_EQ(get("trn2")->program().machine(), "trn2");
  using enum EventKind;
  EXPECT_EQ(seen, (std::vector<EventKind>{Build, CacheHit, Build, CacheHit, Build, CacheHit, Build}));
}

}  // namespace
}  // namespace trn::tile
