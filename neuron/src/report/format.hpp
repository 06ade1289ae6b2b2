// Quantities and text as the report shows them: four significant digits with a unit, decimal prefixes (1 MB = 1e6
// bytes), and the two kinds of escaping, HTML and JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trn::neuron::report {

[[nodiscard]] std::string time_text(double seconds);           // "412.3 us"
[[nodiscard]] std::string bytes_text(double bytes);            // "33.55 MB"
[[nodiscard]] std::string byte_rate_text(double bytes_per_s);  // "416 GB/s"
[[nodiscard]] std::string flop_rate_text(double flops_per_s);  // "61.25 TF/s"
[[nodiscard]] std::string flops_text(double flops);            // "17.18 Gflop"
[[nodiscard]] std::string percent_text(double fraction);       // "77.9 %"
[[nodiscard]] std::string grouped(std::int64_t n);             // "1,234,567"
[[nodiscard]] std::string number_text(double n);               // four significant digits

[[nodiscard]] std::string html_escaped(std::string_view text);  // for element text and quoted attributes
// A quoted JSON string; invalid UTF-8 becomes U+FFFD. Safe inside a <script> element too: <, > and & are \u escapes.
[[nodiscard]] std::string json_quoted(std::string_view text);

}  // namespace trn::neuron::report
