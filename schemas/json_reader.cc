#include "schemas/json_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "schemas/schema.h"

namespace warpfuzz {
namespace {

constexpr int max_depth = 12;
constexpr size_t max_excerpt = 40;
constexpr size_t max_list = 250;
constexpr std::string_view identifier_rule =
    "an identifier of at most 32 characters, not min or max";

// Watches the parser's events for what the finished value no longer shows.
class StrictParser {
 public:
  explicit StrictParser(const std::string& file) : file_(file) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > max_depth) {
      fail(fmt::format("more than {} levels of nesting", max_depth), "fewer");
    }
    switch (event) {
      case Event::object_start:
        objects_.push_back({});
        break;
      case Event::array_start:
        objects_.push_back({});
        break;
      case Event::object_end:
      case Event::array_end:
        objects_.pop_back();
        break;
      case Event::key: {
        Object& object = objects_.back();
        object.current = parsed.get<std::string>();
        if (!object.keys.insert(object.current).second) {
          fail("the same key twice", "each key once");
        }
        break;
      }
      case Event::value:
        break;
    }
    return true;
  }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string current;
  };

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    std::string path;
    for (const Object& object : objects_) {
      if (object.current.empty()) continue;
      path += (path.empty() ? "" : ".") + object.current;
      if (path.size() > 200) break;
    }
    throw SchemaError(fmt::format("{}: {}{}found {}, expected {}", file_, path,
                                  path.empty() ? "" : ": ", found, expected));
  }

  const std::string& file_;
  std::vector<Object> objects_;
};

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto rest = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !text.empty() && text.size() <= 32 && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), rest) && text != "min" && text != "max";
}

template <class Names>
size_t find_choice(const JsonNode& node, const Names& names) {
  const std::string text = node.text();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) node.fail(fmt::format("one of: {}", fmt::join(names, ", ")));
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  try {
    // std::ref: the parser copies its callback.
    StrictParser strict(file);
    return Json::parse(text, std::ref(strict), true, false);
  } catch (const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    std::string_view message = error.what();
    message.remove_prefix(std::min(message.size(), message.find("] ") + 2));
    throw SchemaError(fmt::format("{}: found {}, expected JSON", file, message));
  }
}

void JsonNode::fail(std::string_view expected) const {
  std::string excerpt =
      value_->dump(-1, ' ', true, Json::error_handler_t::replace);  // ASCII: cut anywhere
  if (excerpt.size() > max_excerpt) excerpt = excerpt.substr(0, max_excerpt) + "...";
  fail(excerpt, expected);
}

void JsonNode::fail(std::string_view found, std::string_view expected) const {
  throw SchemaError(fmt::format("{}: found {}, expected {}", where(), found, expected));
}

std::string JsonNode::where() const { return path_.empty() ? *file_ : *file_ + ": " + path_; }

const JsonNode& JsonNode::object(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& [key, value] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      JsonNode(value, *file_, path_.empty() ? key : path_ + "." + key)
          .fail("an unknown key", fmt::format("one of: {}", fmt::join(keys, ", ")));
    }
  }
  return *this;
}

std::optional<JsonNode> JsonNode::find(std::string_view key) const {
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return JsonNode(*found, *file_,
                  path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

JsonNode JsonNode::member(std::string_view key, std::string_view expected) const {
  if (std::optional<JsonNode> found = find(key)) return *found;
  JsonNode(*value_, *file_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key))
      .fail("nothing", expected);
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members(std::string_view what,
                                                                size_t most) const {
  if (!value_->is_object()) fail(fmt::format("an object of {}", what));
  if (value_->empty()) fail(fmt::format("at least one of {}", what));
  if (value_->size() > most) {
    fail(fmt::format("{} {}", value_->size(), what), fmt::format("at most {}", most));
  }
  std::vector<std::pair<std::string, JsonNode>> result;
  for (const auto& [key, value] : value_->items()) {
    JsonNode node(value, *file_, path_.empty() ? key : path_ + "." + key);
    if (!is_identifier(key)) {
      fail(Json(key).dump(-1, ' ', true, Json::error_handler_t::replace), identifier_rule);
    }
    result.emplace_back(key, std::move(node));
  }
  return result;
}

std::vector<JsonNode> JsonNode::list(std::string_view what, size_t least) const {
  if (!value_->is_array()) fail(fmt::format("a list of {}", what));
  if (value_->size() < least) fail(fmt::format("a list of {}, at least {}", what, least));
  if (value_->size() > max_list) {
    fail(fmt::format("{} elements", value_->size()), fmt::format("at most {}", max_list));
  }
  std::vector<JsonNode> result;
  result.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back((*value_)[i], *file_, fmt::format("{}[{}]", path_, i));
  }
  return result;
}

std::string JsonNode::text() const {
  if (!value_->is_string()) fail("a string");
  return value_->get<std::string>();
}

std::string JsonNode::identifier() const {
  std::string result = text();
  if (!is_identifier(result)) fail(identifier_rule);
  return result;
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

int64_t JsonNode::integer(int64_t minimum, int64_t maximum) const {
  const auto wrong = [&] { fail(fmt::format("an integer from {} to {}", minimum, maximum)); };
  if (!value_->is_number_integer()) wrong();
  if (value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{INT64_MAX}) wrong();
  const int64_t result = value_->get<int64_t>();
  if (result < minimum || result > maximum) wrong();
  return result;
}

double JsonNode::number() const {
  if (!value_->is_number()) fail("a number");
  const double result = value_->get<double>();
  if (!std::isfinite(result)) fail("a finite number");
  return result;
}

size_t JsonNode::choice(std::span<const std::string_view> names) const {
  return find_choice(*this, names);
}
size_t JsonNode::choice(std::span<const std::string> names) const {
  return find_choice(*this, names);
}

}  // namespace warpfuzz
