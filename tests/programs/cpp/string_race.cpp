// A string is appended to while another thread copies it; inside the object and outside.
#include <string>

#include "../include/threads.hpp"

std::string small = "small", large = "a string too long to fit into the object itself";

int main() {
    std::string copy;
    together(
        [&] {
            copy = small; //~ RACE small
            copy += large; //~ RACE large
            next_turn();
        },
        [] {
            turn(2);
            small[2] = 'e'; //~ RACE small
            large[40] = 'X'; //~ RACE large
        });
    std::printf("%s\n", copy.c_str());
}
