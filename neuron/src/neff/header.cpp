// The header of a NEFF: where its fields lie, and what they may be.
#include <fmt/format.h>

#include <cctype>

#include <trn/core/error.hpp>

#include "neff/neff.hpp"

namespace trn::neuron::neff {

namespace {

// Offsets of the documented structure. Texts end at a zero or fill their field.
enum Offset : std::size_t {
  kPackageVersion = 0,
  kHeaderSize = 8,
  kDataSize = 16,
  kMajor = 24,
  kMinor = 32,
  kBuildVersion = 40,
  kCores = 168,
  kName = 220,
  kRequestedCores = 476,
  kFeatureBits = 544,
  kLnc = 552
};
constexpr std::size_t kBuildVersionBytes = 128, kNameBytes = 256;
// Far beyond what exists: a header with more is something else.
constexpr std::uint64_t kLargestVersion = 1000, kLargestCores = 4096, kLargestLnc = 16;
constexpr std::uint64_t kLargestData = std::uint64_t{1} << 40;

[[noreturn]] void corrupt(const std::string& text) { throw DeviceError("NEFF: " + text, "neff-corrupt"); }

template <class T> T number(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8) | std::to_integer<T>(bytes[at + i]);
  return value;
}

std::string text(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::string result;
  for (std::size_t i = at; i < at + size && bytes[i] != std::byte{0}; ++i) {
    const auto c = std::to_integer<unsigned char>(bytes[i]);
    result += std::isprint(c) ? static_cast<char>(c) : '?';
  }
  return result;
}

}  // namespace

Header read_header(std::span<const std::byte> neff) {
  if (neff.size() < kHeaderBytes) corrupt(fmt::format("{} bytes; the header alone has {}", neff.size(), kHeaderBytes));
  Header h;
  h.package_version = number<std::uint64_t>(neff, kPackageVersion);
  h.header_bytes = number<std::uint64_t>(neff, kHeaderSize);
  h.data_bytes = number<std::uint64_t>(neff, kDataSize);
  h.major = number<std::uint64_t>(neff, kMajor);
  h.minor = number<std::uint64_t>(neff, kMinor);
  h.build_version = text(neff, kBuildVersion, kBuildVersionBytes);
  h.cores = number<std::uint32_t>(neff, kCores);
  h.name = text(neff, kName, kNameBytes);
  h.requested_cores = number<std::uint32_t>(neff, kRequestedCores);
  h.feature_bits = number<std::uint64_t>(neff, kFeatureBits);
  h.lnc = number<std::uint32_t>(neff, kLnc);
  const auto at_most = [](const char* what, std::uint64_t value, std::uint64_t largest) {
    if (value > largest) corrupt(fmt::format("{} {} in the header; at most {} is plausible", what, value, largest));
  };
  if (h.header_bytes != kHeaderBytes) {
    corrupt(fmt::format("header of {} bytes, by its own account; it has {}", h.header_bytes, kHeaderBytes));
  }
  at_most("package version", h.package_version, kLargestVersion);
  at_most("major version", h.major, kLargestVersion);
  at_most("minor version", h.minor, kLargestVersion);
  at_most("data size", h.data_bytes, kLargestData);
  at_most("number of cores", h.cores, kLargestCores);
  at_most("number of requested cores", h.requested_cores, kLargestCores);
  at_most("logical core size", h.lnc, kLargestLnc);
  if (h.major == 0) corrupt("major version 0 in the header");
  return h;
}

Header check_neff(std::span<const std::byte> neff, int lnc, std::string_view where) {
  const Header h = [&] {
    try {
      return read_header(neff);
    } catch (const DeviceError& e) {
      throw DeviceError(fmt::format("{}: {}", where, e.what()), e.check());
    }
  }();
  if (neff.size() - kHeaderBytes != h.data_bytes) {
    throw DeviceError(fmt::format("{}: NEFF: {} bytes follow the header, which says {}", where,
                                  neff.size() - kHeaderBytes, h.data_bytes),
                      "neff-corrupt");
  }
  // Compilers before logical cores leave the field zero.
  if (h.lnc != 0 && h.lnc != static_cast<std::uint32_t>(lnc)) {
    throw DeviceError(fmt::format("{}: NEFF: made for logical cores of {}; this executor has {}: set lnc to {}, or "
                                  "build it again",
                                  where, h.lnc, lnc, h.lnc),
                      "wrong-lnc");
  }
  return h;
}

}  // namespace trn::neuron::neff
