// Copies of a directory's iterator in two threads: one lets go of it, the other walks to the end, where the library lets go of it.
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "../include/threads.hpp"

namespace fs = std::filesystem;

int main() {
    const fs::path base = fs::temp_directory_path() / ("deadheat-iterator-" + std::to_string(getpid()));
    fs::create_directories(base / "below");
    std::ofstream(base / "below" / "file") << "text\n";
    int found = 0;
    auto *one = new fs::directory_iterator(base), *two = new fs::directory_iterator(*one);
    auto *three = new fs::recursive_directory_iterator(base), *four = new fs::recursive_directory_iterator(*three);
    together(
        [=] {
            delete one;
            delete three;
            next_turn();
        },
        [=, &found] {
            turn(2);
            for (; *two != fs::directory_iterator(); ++*two) {
                found++;
            }
            for (; *four != fs::recursive_directory_iterator(); ++*four) {
                found++;
            }
            delete two;
            delete four;
        });
    fs::remove_all(base);
    std::printf("%d\n", found);
}
