// A variant, an optional and an any change what they hold while another thread looks.
#include <any>
#include <optional>
#include <string>
#include <variant>

#include "../include/threads.hpp"

std::variant<int, std::string> either = 1;
std::optional<std::string> maybe = "a string too long to fit into the object";
std::any any = 1;

int main() {
    int seen = 0;
    together(
        [&] {
            seen += std::holds_alternative<int>(either); //~ RACE variant
            seen += maybe.has_value(); //~ RACE optional
            seen += any.type() == typeid(int); //~ RACE any
            next_turn();
        },
        [] {
            turn(2);
            either = "another"; //~ RACE variant
            maybe.reset(); //~ RACE optional
            any = std::string("a string too long to fit into the object"); //~ RACE any
        });
    std::printf("%d\n", seen);
}
