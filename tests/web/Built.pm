package Built;

# A program of tools/web, as make makes all others; with a mistake, if one is planted.

use strict;
use warnings;
use File::Temp qw(tempdir);
use Chapter;
use Test::More;
use Exporter qw(import);
our @EXPORT = qw(built);

my $build = $ENV{BUILD} // 'build';
my $folder = tempdir(CLEANUP => 1);

# The path of a program NAME that is made of the files of `of`; of one of them, what `change`
# makes of its text.
sub built {
    my ($name, $of, $file, $change) = @_;
    my ($compile, $link) = Chapter::compiler();
    my $copy = tempdir(CLEANUP => 1);
    for my $path (glob "tools/web/{$of,page_say}*.[ch]") {
        my $text = do { local (@ARGV, $/) = $path; <> };
        my ($own) = $path =~ m{([^/]+)$};
        if ($file && $own eq $file) {
            my $before = $text;
            $change->() for $text;
            die "$path: nothing was changed\n" if $text eq $before;
        }
        open my $out, '>', "$copy/$own" or die "$copy/$own: $!\n";
        print $out $text;
        close $out or die "$copy/$own: $!\n";
    }
    my $command = "$compile -Wmissing-prototypes -Werror $copy/*.c $build/libattention.a $link -o $folder/$name";
    is `$command 2>&1`, '', "$name is built without a warning";
    return "$folder/$name";
}

1;
