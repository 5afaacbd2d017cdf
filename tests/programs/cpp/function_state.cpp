// Copies of a std::function, a variant, an optional and an any have states of their own; the same one may be read by all.
#include <any>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "../include/threads.hpp"

int main() {
    std::function<size_t()> count = [text = std::string("a string too long to fit into the object itself")]() mutable {
        return (text += '.').size();
    };
    const std::variant<int, std::string> either = "another string too long to fit into the object";
    const std::optional<std::string> maybe = "yes, a string too long to fit into the object";
    const std::any any = std::string("any string that is too long to fit into the object");
    size_t sums[4] = {};
    crowd(4, [&, count](int n) mutable {
        auto own = count;
        auto variant = either;
        auto optional = maybe;
        auto copy = any;
        for (int i = 0; i < 50; i++) {
            sums[n] += own() + count();
            sums[n] += std::visit([](const auto &value) { return sizeof value; }, either);
            sums[n] += maybe->size() + std::any_cast<const std::string &>(any).size();
            variant = i;
            optional.reset();
            copy = n;
        }
        sums[n] += std::get<int>(variant) + optional.has_value();
    });
    std::printf("%zu %zu %zu\n", sums[0], sums[3], count());
}
