// Paths shared by threads, directories made, walked and removed by each.
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include "../include/threads.hpp"

namespace fs = std::filesystem;

int main() {
    const fs::path base = fs::temp_directory_path() / ("deadheat-filesystem-" + std::to_string(getpid()));
    int found[4] = {}, failed[4] = {};
    crowd(4, [&](int n) {
        fs::path own = base / std::to_string(n);
        fs::create_directories(own / "inner" / "most");
        for (int i = 0; i < 5; i++) {
            std::ofstream(own / "inner" / ("file" + std::to_string(i))) << i << '\n';
        }
        for (auto &entry : fs::recursive_directory_iterator(own)) {
            found[n] += entry.path().filename().string().size() + entry.is_regular_file();
        }
        try {
            found[n] += (int)fs::file_size(own / "missing");
        } catch (const fs::filesystem_error &error) {
            auto copy = error;
            failed[n] += copy.path1().filename() == "missing" && copy.code() == std::errc::no_such_file_or_directory;
        }
        fs::rename(own / "inner", own / "other");
        found[n] += fs::exists(base / std::to_string(n) / "other" / "file4");
        fs::remove_all(own);
    });
    fs::remove(base);
    std::printf("%d %d %d %d\n", found[0], found[3], failed[0], failed[3]);
}
