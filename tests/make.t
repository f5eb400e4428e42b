#!/usr/bin/env perl
# The Makefile, tried on a small book of its own: what is linked, what is
# compiled anew when flags change, and where pandoc is looked for.

use strict;
use warnings;
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

delete @ENV{qw(BUILD CFLAGS JOBS MAKEFLAGS MAKELEVEL MFLAGS RUN_UNDER)};
my $folder = tempdir(CLEANUP => 1);

sub save {
    my ($path, @lines) = @_;
    open my $file, '>', "$folder/$path" or die "$path: $!\n";
    print $file map { "$_\n" } @lines;
    close $file or die "$path: $!\n";
    chmod 0755, "$folder/$path";
}

sub make {
    my ($arguments) = @_;
    my $said = `make -C '$folder' $arguments 2>&1`;
    return ($? >> 8, $said);
}

# Is this up to date?
sub is_made {
    my ($arguments) = @_;
    return !(make("-q $arguments"))[0];
}

make_path(map { "$folder/$_" } qw(bin chapters src tests tools));
copy('Makefile', "$folder/Makefile") or die "Makefile: $!\n";
copy('tools/find-pandoc', "$folder/tools/find-pandoc") or die "find-pandoc: $!\n";
chmod 0755, "$folder/tools/find-pandoc";
save('requirements.txt', 'pandoc');
save('src/attention.h', 'int support(void);', '#define SHOW "none"');
save('src/support.c', '#include "attention.h"', 'int support(void) { return 1; }');
save("chapters/$_.c", 'int main(void) { return 0; }') for qw(01_one 05_tokens 06_six B_normals C_last);
save('tests/support.c', '#include "attention.h"', 'int main(void) { return !support(); }');

# ---- Linking.

my ($status, $said) = make('test-programs');
is $status, 0, 'the small book is built' or diag $said;
my %linked;
for (split /\n/, $said =~ s/\\\n//gr) {
    my ($program) = m{-o build/((?:chapters|tests)/\w+)$} or next;
    $linked{$program} = join ' ', m{build/obj/(\w+)\.o}g;
}
is_deeply \%linked, {
    'chapters/01_one'    => '',
    'chapters/05_tokens' => '01_one B_normals',
    'chapters/06_six'    => '01_one B_normals 05_tokens',
    'chapters/B_normals' => '01_one',
    'chapters/C_last'    => '01_one B_normals 05_tokens 06_six',
    'tests/support'      => '01_one 05_tokens 06_six B_normals C_last',
}, 'each object is linked once, where it is needed';

# ---- Flags.

ok is_made('test-programs'), 'then nothing is left to do';
for my $other ('CFLAGS=-O0', q{CFLAGS="-DIT=\"'a  b'\""}, 'CC="cc -pipe"') {
    ok !is_made("test-programs $other"), "with $other there is";
    ($status, $said) = make("test-programs $other");
    is $status, 0, '... and it is done' or diag $said;
    my $compiled = () = $said =~ / -c /g;
    is $compiled, 7, '... to all that is compiled';
    ok is_made("test-programs $other"), '... once';
    ok !is_made('test-programs'), '... and again without';
}

# ---- Pandoc.

# A Python that makes an environment, whose Python installs a pandoc and says
# where it is. Folders of other versions are none of its business.
sub python_that {
    my ($works) = @_;
    save('bin/python3', '#!/bin/sh', 'echo "$*" >>made', $works ? () : 'exit 1', "mkdir -p .venv/bin",
        "cat >.venv/bin/python <<'END'", '#!/bin/sh',
        'pandoc=$PWD/.venv/lib/python3.2/site-packages/pypandoc/files/pandoc',
        '[ "$1" = -m ] || { [ -x $pandoc ] && echo $pandoc; exit; }',
        'mkdir -p ${pandoc%/*}', 'echo "#!/bin/sh" >$pandoc', 'chmod +x $pandoc', 'END',
        'chmod +x .venv/bin/python');
}

# How often it was asked for one since the last time, and how.
sub made_by_python {
    open my $file, '<', "$folder/made" or return '';
    unlink "$folder/made";
    return join '', <$file>;
}

$ENV{PATH} = "$folder/bin:$ENV{PATH}";
my $stamp = 'build/pandoc.found';
my $age   = time - 10_000;
save('bin/pandoc', '#!/bin/sh', 'echo pandoc 3.0');
utime $age, $age, "$folder/bin/pandoc";
python_that(0);
make($stamp);
is readlink "$folder/build/pandoc", "$folder/bin/pandoc", 'a pandoc on the PATH is found';
like made_by_python(), qr/^-m venv .*\.venv\n$/, '... where Python cannot make one';
ok is_made($stamp), '... once, though it is older than what asks for it';

python_that(1);
unlink "$folder/bin/pandoc";
ok !is_made($stamp), 'when it has gone, it is looked for again';
make_path("$folder/.venv/lib/python3.$_/site-packages/pypandoc/files") for 1, 3;
save(".venv/lib/python3.$_/site-packages/pypandoc/files/pandoc", '#!/bin/sh') for 1, 3;
make($stamp);
my $own = "$folder/.venv/lib/python3.2/site-packages/pypandoc/files/pandoc";
is readlink "$folder/build/pandoc", $own, 'the pandoc of the Python in .venv is found';
is made_by_python(), "-m venv .venv\n", '... in .venv, from which nothing is removed';
ok is_made($stamp), '... once';

unlink $own;
ok !is_made($stamp), 'when it has gone from .venv, it is looked for again';
make($stamp);
is readlink "$folder/build/pandoc", $own, '... and there again';
is made_by_python(), "-m venv --clear .venv\n", '... in a new .venv';

utime time + 10, time + 10, "$folder/requirements.txt";
ok !is_made($stamp), 'when another is asked for, it is looked for again';

done_testing;
