// What a rank says about an operation, as text: "broadcast(float32, count 12, root 0)". The operation may name its
// values in brackets; one that is named "type" is a DType.
#include <fmt/format.h>

#include <trn/comm/transport.hpp>
#include <trn/core/dtype.hpp>

namespace trn::comm {
namespace {

std::string value_text(std::string_view name, std::int64_t value) {
  const auto types = static_cast<std::int64_t>(all_dtypes().size());
  if (name == "type" && value >= 0 && value < types) return std::string(trn::name(static_cast<DType>(value)));
  return name.empty() ? fmt::format("{}", value) : fmt::format("{} {}", name, value);
}

}  // namespace

std::string text_of(const Signature& signature) {
  if (signature.values.empty()) return std::string(signature.operation);
  const std::size_t bracket = signature.operation.find('(');
  std::string_view names;
  if (bracket != std::string_view::npos) names = signature.operation.substr(bracket + 1);
  std::string text(signature.operation.substr(0, bracket));
  text += '(';
  for (std::size_t i = 0; i < signature.values.size(); ++i) {
    const std::size_t end = names.find_first_of(",)");
    if (i > 0) text += ", ";
    text += value_text(names.substr(0, end), signature.values[i]);
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    while (names.starts_with(' ')) names.remove_prefix(1);
  }
  return text + ')';
}

}  // namespace trn::comm
