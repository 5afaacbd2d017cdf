// Libraries are opened, used and closed by many threads; functions and variables are found by name.
// flags: -rdynamic
#include "../include/threads.h"

#include <dlfcn.h>

pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
int shared_counter;

void count(void) {
    pthread_mutex_lock(&shared_mutex);
    shared_counter++;
    pthread_mutex_unlock(&shared_mutex);
}

static void *work(void *argument) {
    for (int i = 0; i < 30; i++) {
        void *self = dlopen(NULL, RTLD_NOW);
        void (*found)(void) = (void (*)(void))dlsym(self, "count");
        MUST(found == count);
        found();
        dlclose(self);
        void *library = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
        double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
        MUST(root(16) == 4);
        dlclose(library);
        Dl_info info;
        MUST(dladdr((void *)count, &info) && strcmp(info.dli_sname, "count") == 0);
        MUST(!dlopen("there-is-no-such-library.so", RTLD_NOW) && dlerror());
    }
    return argument;
}

int main(void) {
    crowd(3, work);
    printf("%d\n", *(int *)dlsym(RTLD_DEFAULT, "shared_counter"));
}
