/* Verifies the content of a torrent with a progress line, and lists the files that are not whole. Exits with 0 if all is there. */
#include <hashlane.h>
#include <stdio.h>
#include <string.h>

static int show_progress(void *context, const hashlane_verify_progress *progress) {
    unsigned percent = (unsigned)(progress->done_bytes * 100.0 / progress->total_bytes);
    (void)context;
    fprintf(stderr, "\r%3u %%  %u pieces bad", percent, (unsigned)progress->counts->n_bad);
    return 0; /* Another number cancels. */
}

/* Returns the number of files that are not whole. */
static unsigned list_files(const hashlane_torrent *torrent, const hashlane_report *report) {
    static const char *const STATES[] = {"unchecked", "whole", "incomplete", "missing", "unreadable"};
    hashlane_file_report file;
    char path[4096];
    unsigned n_not_whole = 0;
    size_t i;
    memset(&file, 0, sizeof file);
    file.struct_size = sizeof file;
    for (i = 0; hashlane_report_file(report, i, &file) == HASHLANE_ERROR_NONE; i++) {
        if (file.state == HASHLANE_FILE_WHOLE) {
            continue;
        }
        n_not_whole++;
        if (hashlane_torrent_file_path(torrent, file.file, path, sizeof path, NULL)) {
            snprintf(path, sizeof path, "file %u", (unsigned)file.file);
        }
        printf("%s: %s, %u of %u pieces\n", path, STATES[file.state], (unsigned)file.n_have, (unsigned)file.n_pieces);
    }
    return n_not_whole;
}

int main(int argc, char **argv) {
    hashlane_torrent *torrent;
    hashlane_report *report = NULL;
    hashlane_error error;
    unsigned n_not_whole = 0;
    int is_complete;

    if (argc != 3) {
        fprintf(stderr, "usage: %s TORRENT CONTENT\n", argv[0]);
        return 2;
    }
    error = hashlane_torrent_open(argv[1], &torrent);
    if (!error) {
        error = hashlane_torrent_verify(NULL, torrent, argv[2], 0, show_progress, NULL, &report);
        fputc('\n', stderr);
    }
    if (error) {
        fprintf(stderr, "%s\n", hashlane_error_details(error));
        hashlane_report_free(report);
        hashlane_torrent_free(torrent);
        return 2;
    }
    n_not_whole = list_files(torrent, report);
    is_complete = hashlane_report_is_complete(report);
    printf("%s: %s, %u files not whole\n", argv[1], is_complete ? "complete" : "not complete", n_not_whole);
    hashlane_report_free(report);
    hashlane_torrent_free(torrent);
    return fflush(stdout) == 0 && is_complete ? 0 : 1;
}
