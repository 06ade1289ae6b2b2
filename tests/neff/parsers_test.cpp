// Parsers of what other programs wrote: NEFF headers, manifests, results. Damaged and random inputs are refused with
// the right error or give something that holds; nothing crashes. TRN_NEFF_FUZZ sets how many inputs each gets.
#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>

#include "neff/worker.hpp"
#include "support.hpp"

namespace trn::neuron::neff::testing {
namespace {

int inputs() {
  const char* wanted = std::getenv("TRN_NEFF_FUZZ");
  return wanted == nullptr ? 10000 : std::atoi(wanted);
}

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string good_header() {
  std::string h(1024, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) h[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(0, 2, 8), put(8, 1024, 8), put(16, 100, 8), put(24, 2, 8), put(32, 3, 8), put(168, 1, 4);
  h.replace(40, 5, "2.27.");
  h.replace(220, 4, "gemm");
  put(476, 1, 4), put(544, 0x1234, 8), put(552, 2, 4);
  return h;
}

TEST(NeffHeader, ReadsEveryField) {
  const Header h = read_header(bytes(good_header()));
  EXPECT_EQ(h.package_version, 2u);
  EXPECT_EQ(h.data_bytes, 100u);
  EXPECT_EQ(h.major, 2u);
  EXPECT_EQ(h.minor, 3u);
  EXPECT_EQ(h.build_version, "2.27.");
  EXPECT_EQ(h.cores, 1u);
  EXPECT_EQ(h.requested_cores, 1u);
  EXPECT_EQ(h.name, "gemm");
  EXPECT_EQ(h.feature_bits, 0x1234u);
  EXPECT_EQ(h.lnc, 2u);
  const std::string whole = good_header() + std::string(100, 'x');
  EXPECT_EQ(check_neff(bytes(whole), 2, "here").lnc, 2u);
  EXPECT_EQ(error_of([&] { check_neff(bytes(whole), 1, "here"); }).first, "wrong-lnc");
  EXPECT_EQ(error_of([&] { check_neff(bytes(whole + "x"), 2, "here"); }).first, "neff-corrupt");
  EXPECT_EQ(error_of([&] { check_neff(bytes(whole.substr(0, 1100)), 2, "here"); }).first, "neff-corrupt");
  for (const std::size_t size : {0u, 1u, 1023u}) {
    EXPECT_EQ(error_of([&] { (void)read_header(bytes(whole.substr(0, size))); }).first, "neff-corrupt");
  }
}

const char* kTokens[] = {"\"",      "{",       "}",    "[",    "]",     ",",
                         ":",       "null",    "true", "-1",   "1e999", "18446744073709551616",
                         "\\u0000", "\\ud800", "\xff", "name", "alias", "\"bytes\":",
                         "0",       "x"};

// Bits flipped, pieces cut out, doubled, exchanged for tokens; now and then nothing but noise.
std::string damaged(std::string text, std::mt19937& random) {
  const auto at = [&] { return text.empty() ? 0 : random() % text.size(); };
  if (random() % 50 == 0) {
    text.resize(random() % 2000);
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }
  for (unsigned n = random() % 4 + 1; n-- > 0 && !text.empty();) {
    const std::size_t begin = at(), length = random() % 40;
    switch (random() % 6) {
      case 0:
        text[begin] = static_cast<char>(text[begin] ^ (1 << random() % 8));
        break;
      case 1:
        text.erase(begin, length);
        break;
      case 2:
        text.insert(begin, text.substr(at(), length));
        break;
      case 3:
        text.replace(begin, random() % 8, kTokens[random() % std::size(kTokens)]);
        break;
      case 4:
        text.resize(begin);
        break;
      default:
        text[begin] = static_cast<char>(random());
    }
  }
  return text;
}

TEST(NeffHeader, DamagedInputsAreRefusedOrPlausible) {
  std::mt19937 random(1);
  const std::string good = good_header() + std::string(100, 'x');
  int refused = 0, taken = 0;
  for (int i = 0; i < inputs(); ++i) {
    const std::string text = damaged(good, random);
    try {
      const Header h = read_header(bytes(text));
      ++taken;
      ASSERT_EQ(h.header_bytes, 1024u);
      ASSERT_TRUE(h.major > 0 && h.major <= 1000 && h.lnc <= 16 && h.cores <= 4096);
      ASSERT_LE(h.name.size(), 256u);
    } catch (const DeviceError& e) {
      ++refused;
      ASSERT_EQ(e.check(), "neff-corrupt");
    }
  }
  EXPECT_GT(refused, inputs() / 100);
  EXPECT_GT(taken, inputs() / 100);
}

Manifest good_manifest() {
  Manifest m;
  m.entry = "gemm";
  m.program = "gemm";
  m.hash = 0x0123456789abcdef;
  m.machine = "trn2";
  m.sha256 = std::string(64, 'a');
  m.versions = {{"nki", "0.6.0"}, {"api", "nki 0.6"}};
  m.arguments = {{"a", 64, false, "", "a"},
                 {"c.must_alias_input", 256, false, "", "c"},
                 {"c", 256, true, "c.must_alias_input", "c"}};
  return m;
}

TEST(NeffManifest, WritesWhatItReads) {
  const Manifest m = good_manifest();
  EXPECT_EQ(read_manifest(write_manifest(m)), m);
}

TEST(NeffManifest, RefusesWhatDoesNotHold) {
  const auto refused = [](const Manifest& m, const char* why) {
    const auto [check, text] = error_of([&] { (void)read_manifest(write_manifest(m)); });
    EXPECT_EQ(check, "neff-corrupt") << why;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  };
  Manifest m = good_manifest();
  m.arguments[2].alias = "nobody";
  refused(m, "not an input");
  m = good_manifest();
  m.arguments[2].bytes = 255;
  refused(m, "differ in size");
  m = good_manifest();
  m.arguments.push_back({"d", 256, true, "c.must_alias_input", "d"});
  refused(m, "continued twice");
  m = good_manifest();
  m.arguments[1].name = "a";
  refused(m, "two tensors");
  m = good_manifest();
  m.arguments[0].alias = "c";
  refused(m, "has an alias");
  m = good_manifest();
  m.sha256 = "123";
  refused(m, "SHA-256");
}

TEST(NeffManifest, DamagedInputsAreRefusedOrHold) {
  std::mt19937 random(2);
  const std::string good = write_manifest(good_manifest());
  int refused = 0, taken = 0;
  for (int i = 0; i < inputs(); ++i) {
    const std::string text = damaged(good, random);
    try {
      const Manifest m = read_manifest(text);
      ++taken;
      ASSERT_EQ(read_manifest(write_manifest(m)), m);
    } catch (const DeviceError& e) {
      ++refused;
      ASSERT_EQ(e.check(), "neff-corrupt");
    }
  }
  EXPECT_GT(refused, inputs() / 100);
  EXPECT_GT(taken, inputs() / 100);
}

TEST(NeffResult, LongMessagesAreCut) {
  const std::string text = "begin" + std::string(200000, 'x') + "end";
  const Result refused = read_result(R"({"status": "refused", "message": ")" + text + R"("})");
  EXPECT_LT(refused.message.size(), 4100u);
  EXPECT_TRUE(refused.message.starts_with("begin") && refused.message.ends_with("end")) << refused.message;
}

TEST(NeffResult, DamagedInputsAreRefusedOrHold) {
  const std::string good =
      R"({"status": "ok", "api": "nki 0.6", "inputs": ["a", "b"], "outputs": ["c"], "versions": {"nki": "0.6.0"}})";
  const Result whole = read_result(good);
  EXPECT_TRUE(whole.ok);
  EXPECT_EQ(whole.inputs, (std::vector<std::string>{"a", "b"}));
  std::mt19937 random(3);
  int refused = 0, taken = 0;
  for (int i = 0; i < inputs(); ++i) {
    const std::string text = damaged(good, random);
    try {
      const Result r = read_result(text);
      ++taken;
      for (const std::string& n : r.inputs) ASSERT_FALSE(n.empty());
    } catch (const DeviceError& e) {
      ++refused;
      ASSERT_EQ(e.check(), "neff-build");
    }
  }
  EXPECT_GT(refused, inputs() / 100);
  EXPECT_GT(taken, inputs() / 100);
}

TEST(NeffManifest, DeepAndLongTextsDoNotEndTheProcess) {
  EXPECT_EQ(error_of([] { (void)read_manifest(std::string(1000000, '[')); }).first, "neff-corrupt");
  EXPECT_EQ(error_of([] { (void)read_manifest(std::string(2000000, ' ')); }).first, "neff-corrupt");
  EXPECT_EQ(
      error_of([] { (void)read_result("{\"a\":" + std::string(400000, '[') + std::string(400000, ']') + "}"); }).first,
      "neff-build");
}

}  // namespace
}  // namespace trn::neuron::neff::testing
