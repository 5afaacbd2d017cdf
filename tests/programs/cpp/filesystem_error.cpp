// A filesystem_error shares its text and paths with its copies; whoever is last, the library or the program, destroys them.
#include <filesystem>
#include <string>
#include <system_error>

#include "../include/threads.hpp"

namespace fs = std::filesystem;

int main() {
    int lengths[2] = {};
    for (int round = 0; round < 2; round++) {
        auto *one = new fs::filesystem_error("a text that does not fit into the object", "/one", "/two", std::error_code());
        auto *two = new fs::filesystem_error(*one);
        auto use = [&lengths, round](fs::filesystem_error *mine, int n) {
            turn(2 * round + n + 1);
            lengths[n] += std::string(mine->what()).size() + mine->path2().string().size();
            fs::filesystem_error copy = *mine;
            delete mine;
            next_turn();
        };
        together([=] { use(one, 0); }, [=] { use(two, 1); });
    }
    std::printf("%d\n", lengths[0] == lengths[1]);
}
