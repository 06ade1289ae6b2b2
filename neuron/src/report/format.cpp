// How a number becomes text: the unit is the largest one not above the value, and trailing zeros go.
#include "format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

namespace trn::neuron::report {

namespace {

struct Unit {
  double size;
  const char* name;
};

// The largest unit not above the value; the smallest one for anything less. `units` ascend.
std::string with_unit(double value, std::span<const Unit> units) {
  const Unit* unit = &units.front();
  for (const Unit& u : units) {
    if (std::abs(value) >= u.size * 0.99995) unit = &u;  // 999.97 would print as 1000
  }
  return fmt::format("{} {}", number_text(value / unit->size), unit->name);
}

}  // namespace

std::string number_text(double n) {
  if (n == 0) return "0";
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::abs(n)))) + 1;
  std::string text = fmt::format("{:.{}f}", n, std::clamp(4 - whole_digits, 0, 12));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

std::string time_text(double seconds) {
  static constexpr std::array<Unit, 4> units{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
  return with_unit(seconds, units);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<Unit, 5> units{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return with_unit(bytes, units);
}

std::string byte_rate_text(double rate) { return bytes_text(rate) + "/s"; }

std::string flop_rate_text(double rate) {
  static constexpr std::array<Unit, 4> units{{{1e6, "MF/s"}, {1e9, "GF/s"}, {1e12, "TF/s"}, {1e15, "PF/s"}}};
  return with_unit(rate, units);
}

std::string flops_text(double flops) {
  static constexpr std::array<Unit, 4> units{{{1, "flop"}, {1e6, "Mflop"}, {1e9, "Gflop"}, {1e12, "Tflop"}}};
  return with_unit(flops, units);
}

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

std::string grouped(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  const std::ptrdiff_t first = n < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  const std::string plain = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (const char c : plain) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace trn::neuron::report
