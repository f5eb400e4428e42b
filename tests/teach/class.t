#!/usr/bin/env perl
# A class is graded: whatever form its submissions have, each once and several at a
# time; who cannot be graded is said; and where it was stopped, it goes on.

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use IO::Compress::Zip qw(zip $ZipError);
use POSIX qw(mkfifo);
use Assignment;
use Chapter;
use Class;
use ClassReport;
use Grader;
use Report;
use Submission;
use Test::More;
use Wait qw(wait_until);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
my $folder = tempdir(CLEANUP => 1);
make_path($ENV{TMPDIR} = "$folder/tmp"); # for what a killed one leaves
chmod 0711, $folder;
my $chapter = Chapter->load('chapters/02_softmax.c');
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};
my $conf = Chapter::save("$folder/hw.conf", 'name = hw', 'title = Scores & shares', 'chapters = 02');

sub text_of { my ($path) = @_; open my $file, '<:encoding(UTF-8)', $path or return ''; local $/; return scalar(<$file>) // '' }
sub put {
    my ($path, $text) = @_;
    make_path($path =~ s{/[^/]*\z}{}sr);
    open my $file, '>:raw', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    return $path;
}

# The chapter with exercises empty, or solved, or with a body of softmax's own.
my $solved = join '', map {"$_\n"} @{$chapter->{lines}};
my $empty = join '', map {"$_\n"} $chapter->emptied(@exercises);
my $wrong = $empty =~ s/^    TODO\("2\.1"\);/    (void)n; weights[0] = scores[0];/mr;
($solved, $empty, $wrong) = map { encode_utf8($_) } $solved, $empty, $wrong;

# ---- Submissions in all the forms that they come in

my $work = "$folder/forms";
sub archive {
    my ($path, @files) = @_;
    make_path($path =~ s{/[^/]*\z}{}sr);
    my $zip = IO::Compress::Zip->new($path, Name => $files[0][0]) or die $ZipError;
    for my $k (0 .. $#files) {
        $zip->newStream(Name => $files[$k][0]) if $k;
        $zip->print($files[$k][1]);
    }
    $zip->close;
    return $path;
}

# What is found in these paths below $work of chapter 02, and of 03 if there are two; or what is wrong.
sub found {
    my ($paths, @chapters) = @_;
    @chapters = '02_softmax' if !@chapters;
    my %text = eval { Submission::texts([map {"$work/$_"} @$paths], @chapters) };
    return $@ || join ' ', map { !exists $text{$_} ? 'none' : !defined $text{$_} ? 'no file' : length $text{$_} > 9e5
          ? length $text{$_} : $text{$_} } @chapters;
}

my @two = qw(02_softmax 03_qkv);
put("$work/$_", 'C') for 'plain/02_softmax.c', 'below/chapters/02_softmax.c', 'deep/hw1/chapters/02_softmax.c',
  'again/a/02_softmax (1).c', 'alone/mine/my softmax.c',
  'windows/02_Softmax.c.txt', "Anna M\xc3\xbcller \"A\"/'x y'/02_softmax.c", 'twice/a/02_softmax.c', 'twice/b/02_softmax.c',
  'differ/a/02_softmax.c', 'two/02_softmax.c', 'two/other/03_qkv.c', 'main/main.c', 'main/second.c';
put("$work/$_/02_softmax.c", 'another') for 'deep/hw1/.book', 'deep/__MACOSX', 'differ/b';
put("$work/attempts/x/02_softmax$_->[0].c", $_->[1]) for ['', 'C'], [' (2)', 'another'];
put("$work/book/hw1/$_", 'C') for 'chapters/02_softmax.c', 'chapters/03_qkv.c';
put("$work/book/hw1/$_/02_softmax.c", 'another') for 'tests', 'build/code', 'old';
put("$work/tests/hw1/tests/02_softmax.c", 'another');
put("$work/large/deep/02_softmax.c", 'x' x 1_000_001);
put("$work/packed/hw1.tar.gz", 'x');
put("$work/broken/hw1.zip", 'x');
make_path("$work/link", "$work/links");
make_path("$work/deep/links");
symlink "$work/differ/b/02_softmax.c", "$work/deep/links/02_softmax.c";
symlink "$work/plain/02_softmax.c", "$work/link/02_softmax.c";
symlink "$work/below/chapters", "$work/links/chapters";
archive("$work/zipped/hw1.zip", ['hw1/README.md', 'x'], ['hw1/.book/02_softmax.c', 'the solution'],
    ['__MACOSX/hw1/02_softmax.c', 'x'], ['hw1/chapters/02_softmax.c', 'Z'], ["$folder/escaped/03_qkv.c", 'Y'], ['../../x/02_softmax.c', 'X']);
archive("$work/windows.zip", ['hw1\\chapters\\02_softmax.c', 'W'], ['hw1\\.book\\02_softmax.c', 'the solution']);
archive("$work/large.zip", ['02_softmax.c', 'x' x 1_000_001]);
archive("$work/again.zip", ['02_softmax.c', 'C'], ['02_softmax.c', 'another']);
archive("$work/anew/hw$_.zip", ['02_softmax.c', "C$_"]) for '', ' (1)';
archive("$work/same/hw$_.zip", ['02_softmax.c', 'C']) for '', ' (1)';
archive("$work/nested.zip", ['hw/README.md', 'x'], ['__MACOSX/x.zip', 'x'], ['hw/hw1.zip', 'x']);
archive("$work/bombs/$_.zip", ["$_.txt", 'x' x 110_000_000]) for 1, 2;
for (['plain', 'C'], ['below', 'C'], ['deep', 'C'], ['again', 'C'], ['alone', 'C'], ['windows', 'C'],
     ["Anna M\xc3\xbcller \"A\"", 'C'], ['twice', 'C'], ['two', 'C C', @two], ['main', 'none'], ['book', 'C'], ['book', 'C C', @two], ['tests', 'none'],
     ['differ', "02_softmax.c is there more than once: a/02_softmax.c and b/02_softmax.c: one is needed\n"],
     ['attempts', "02_softmax.c is there more than once: x/02_softmax.c and x/02_softmax (2).c: one is needed\n"],
     ['large', 1_000_001], ['large.zip', 1_000_001], ['same', 'C'],
     map({ [$_->[0], "02_softmax.c is in $_->[1], and was packed before with another text: one is needed\n"] } ['again.zip', 'again.zip'], ['anew', 'hw.zip']),
     ['nested.zip', "hw/hw1.zip in nested.zip is an archive: unpack it first, into a folder of its own\n"],
     ['bombs', "2.zip has more than 200000000 bytes in it\n"],
     ['packed', "hw1.tar.gz is an archive: unpack it first, into a folder of its own\n"],
     ['broken', qr/^hw1\.zip is no zip archive that can be read here: unpack it first, into a folder of its own\n\z/], ['link', 'no file'], ['links', 'no file'],
     ['zipped', 'Z'], ['zipped', 'Z Y', @two], ['windows.zip', 'W'], ['alone', 'none none', @two]) {
    my ($path, $due, @chapters) = @$_;
    my $came = found([$path], @chapters);
    ref $due ? like($came, $due, "a submission: $path") : is($came, $due, "a submission: $path");
}
ok !-e "$folder/escaped" && !-e 'x', '... nothing was unpacked to where a name leads';

archive("$work/asks.zip", ['hw1/.book/exercises', "2.1\r\n2.3 challenge\n1.3 beside\n"], ['hw1/chapters/02_softmax.c', 'C']);
is join(' ', Submission::asks("$work/asks.zip")), '2.1 2.3', 'an archive says what it asks for';
put("$work/asks/hw1/.book/exercises", "2.1\n");
is join(' ', Submission::asks("$work/asks")), '2.1', '... and so does a folder in a folder';

# What a folder holds: folders, archives, files; and what is nobody's.
my $loose = "$folder/loose";
put("$loose/$_", 'C') for 'anna_12_assignsubmission_02_softmax.c', 'anna_12_assignsubmission_03_qkv.c', 'bob_02_softmax-1.c',
  'carol/02_softmax.c', '.hidden/02_softmax.c', 'notes.txt', '02_softmax.c';
put("$loose/$_", 'C') for 'carol.zip', 'Dora M.zip', 'emil.tar.gz';
sub names { my ($of, @others) = Submission::all(@_); return join('|', sort keys %$of) . ' but ' . join '|', @others }
is names($loose, @two), 'Dora M|anna_12_assignsubmission|bob|carol|emil but 02_softmax.c|notes.txt', 'a folder for all';
is_deeply [map { s{.*/}{}r } @{(Submission::all($loose, @two))[0]{anna_12_assignsubmission}}],
  ['anna_12_assignsubmission_02_softmax.c', 'anna_12_assignsubmission_03_qkv.c'], '... with two files of one student';
put("$loose/frida.c", 'C');
like names($loose, '02_softmax'), qr/\|emil\|frida but/, '... with one chapter, any C file is a student\'s';
put("$folder/nobody/notes.txt", 'x');
for (["$folder/nobody", 'has no submissions in it, but notes.txt: a folder or'], ["$folder/none", 'No such file']) {
    ok !eval { Submission::all($_->[0], @two) }, 'refused: a folder with none';
    like $@, qr/^\Q$_->[0]\E:? $_->[1](?:[^\n]*)\n\z/, '... in one line';
}

# ---- A class

my ($class, $out, $err) = ("$folder/a class", "$folder/its grades", "$folder/err");
put("$class/bob/chapters/02_softmax.c", $solved);
put("$class/alice\n\"x\", y/02_softmax.c", $solved);
put("$class/=cmd()/chapters/02_softmax.c", $empty);
put("$class/carol/deep/02_softmax.c", $wrong);
put("$class/none/README.md", 'x');
make_path("$class/tied");
symlink "$class/bob/chapters/02_softmax.c", "$class/tied/02_softmax.c";
put("$class/broken/02_softmax.c", "int a;\nint b = ;\n");
archive("$class/Anna M\xc3\xbcller.zip", ['hw/02_softmax.c', $solved]);
symlink '/', "$class/link";
sub grade_class {
    my ($to) = (@_, $out);
    my $said = `tools/teach/grade-all '$class' '$to' '$conf' 2>'$err'`;
    return ($? >> 8, $said, text_of($err));
}
for (['CHAPTER=02', '', 'a folder with what students have submitted is needed, as in: make grade-all DIR=submissions NAME=hw1'],
     ["DIR='$class'", '', 'it is not said what is graded: NAME=hw1 or CHAPTER=02 is needed']) {
    like `make -s grade-all $_->[0] OUT='$out' 2>&1`, qr/\Atools\/teach\/grade(?:-all)?: \Q$_->[2]\E\n/, "make grade-all: $_->[2]";
}
my ($status, $said, $told) = grade_class();
is "$status $told", '0 ', 'a class is graded';
like $said, qr/^2\.1 +softmax +3 done, 1 wrong, 4 open; most often: \w.*\n(?s:.*)^8 submissions$/m, '... of which is said how far it is';
like $said, qr/^Left out, as neither folder, archive nor chapter: link$/m, '... and what is nobody\'s';
my $table = text_of("$out/grades.csv");
is $table, join("\r\n", "\x{feff}name,score,max,2.1,2.2,2.3,note", q{"'=cmd()",0,10,0,0,0,}, 'Anna Müller,10,10,3,3,4,',
    q{"alice ""x"", y",10,10,3,3,4,}, 'bob,10,10,3,3,4,', ($table =~ /^(broken,0,10,0,0,0,.*)\r$/m)[0] // 'broken',
    'carol,0,10,0,0,0,', q{none,0,10,0,0,0,there is no 02_softmax.c},
    q{tied,0,10,0,0,0,"02_softmax.c is a link, or no file: a file is needed"}, ''), '... into a table in which no name is a formula';
like $table, qr/^broken,.*02_softmax\.c:2:.*error/m, '... that tells why one does not compile';
like text_of("$out/reports/Anna M\xc3\xbcller.txt"), qr{\Ahw, Anna Müller\n\n2\.1 .*^score: 10 / 10$}ms, 'a report has its student\'s name';
my $page = text_of("$out/class.html");
like $page, qr{<h1>Scores &amp; shares</h1>.*<li><strong>2\.1 <code>softmax</code></strong>, which 5 of 8 have not solved: of 4 there is nothing that could be tested</li>}s, 'a page says what to teach';
like $page, qr/^:root \{ color-scheme: light dark \}$/m, '... dark, too, where the screen is';
like $page, qr{; 1 not compiled\.</p>}, '... how many do not compile';
like $page, qr{<td><a href="reports/Anna%20M%C3%BCller\.txt">Anna Müller</a></td><td>10</td>}, '... and links to each report';

# What is said of a mistake that has a name, of one that has none, and of no answer.
sub most_often {
    my @mistakes = map { {id => '2.1', state => 'wrong', diagnosis => $_->[0], message => 'x',
        tests => [{ok => 0, name => 'softmax: single', told => {wrong => $_->[1]}}]} } @_;
    my ($line) = ClassReport::lines({exercises => [{id => '2.1', function => 'softmax'}]}, map { {result => {exercises => [$_]}} } @mistakes);
    return $line =~ s/.*most often: //r;
}
for (['no answer: the function has no end', [undef, 'no end in 5 s: is there an endless loop?']],
     ['no answer: the function crashes', [undef, 'Segmentation fault: memory was used']],
     ['no answer: the function makes a forbidden call', [undef, 'Bad system call']],
     ['no answer: the function ends the program', [undef, 'the program ended by itself, with status 0']],
     ['a mistake without a name, in the test single', [undef, 'x[0]: 1 where 2 is due']],
     ['the weights are forgotten', [undef, 'x[0]: 1 where 2 is due'], ['the weights are forgotten', 'x[0]: 3 where 2 is due']],
     ['the weights are forgotten', [undef, 'Aborted'], ['the weights are forgotten', 'x[0]: 3 where 2 is due']]) {
    my ($words, @made) = @$_;
    is most_often(@made), $words, "what is said most often of @{[map { $_->[1] } @made]}";
}

# Again: what is as it was stays, what is not is graded.
my %old = map { $_ => (stat)[9] } glob "'$out/results/'*.json";
is scalar keys %old, 8, 'a result is kept for each';
my ($gone, $damaged, @rest) = sort keys %old;
unlink $gone;
put($damaged, '{"score": 10');
put("$out/results/bob.json.part-77", 'half');
utime 1, 1, @rest;
grade_class();
is text_of("$out/grades.csv"), $table, 'what is missing or half written is graded again, to the same table';
is join(' ', uniq_of(map { (stat)[9] } @rest)), '1', '... and nothing else';
ok !-e "$out/results/bob.json.part-77", '... and what was left half written is gone';
put("$class/carol/deep/02_softmax.c", $solved);
put("$class/bob/chapters/02_softmax.c", $empty);
grade_class();
like text_of("$out/grades.csv"), qr/^bob,0,.*^carol,10/ms, 'a submission that has changed is graded anew';
sub uniq_of { my %seen; return grep { !$seen{$_}++ } @_ }

# Who cannot be graded.
unlink "$out/results/bob.json";
make_path("$out/results/bob.json/x");
put("$class/$_.rar", 'x') for qw(emil fay gus);
($status, $said, $told) = grade_class();
is $status, 2, 'who cannot be graded makes the status 2';
like $told, qr{\Atools/teach/grade-all: bob could not be graded: [^\n]*bob\.json: \w[^\n]*; emil could not be graded: emil\.rar is an archive: unpack it first[^\n]*; fay could[^;\n]*; 1 more: grades\.csv says why\. When[^\n]*\n\z},
  '... is said on one line';
like text_of("$out/grades.csv"), qr/^bob,,,,,,.*bob\.json: .*\r\n(?s:.*)^emil,,,,,,"?emil\.rar is an archive(?s:.*)^gus,/m, '... has no points in the table, but the reason';
like text_of("$out/class.html"), qr{<td>emil</td><td colspan="4">emil\.rar is an archive}, '... nor on the page';
ok !-e "$out/reports/bob.txt", '... nor a report of another day';
is join(' ', grep { /part/ } glob "'$out/'* '$out/results/'*"), '', '... and nothing is half written';
rmdir "$out/results/bob.json/x" and rmdir "$out/results/bob.json" and unlink map {"$class/$_.rar"} qw(emil fay gus);
($status) = grade_class();
is $status, 0, 'when that is mended, all are';
my $whole = text_of("$out/grades.csv");

# Stopped, and gone on with.
for my $signal (qw(TERM KILL)) {
    my $to = "$folder/stopped by $signal";
    make_path("$to/results");
    mkfifo("$to/results/bob.json", 0600) or die "no pipe: $!\n"; # whose text is waited for
    my $pid = fork // die;
    if (!$pid) { setpgrp 0, 0; $ENV{JOBS} = 1; open STDERR, '>', '/dev/null'; exec 'tools/teach/grade-all', $class, $to, $conf }
    my @done;
    wait_until { 3 == (@done = grep { -f } glob "'$to/results/'*.json") } 'three results';
    kill $signal => $signal eq 'KILL' ? -$pid : $pid;
    waitpid $pid, 0;
    ok !-e "$to/grades.csv", "stopped by $signal, some are graded";
    unlink "$to/results/bob.json";
    utime 1, 1, @done;
    grade_class($to);
    is text_of("$to/grades.csv"), $whole, '... and then all, to the same table';
    is join(' ', uniq_of(map { (stat)[9] } @done)), '1', '... those that were are not graded again';
}

# Another assignment of the same name is graded anew.
Chapter::save($conf, 'name = hw', 'title = Scores & shares', 'chapters = 02', 'points 2.1 = 9');
grade_class();
like text_of("$out/grades.csv"), qr/^carol,16,16,9,3,4,/m, 'other points are counted anew';

done_testing;
