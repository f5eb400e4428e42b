package Sheet;

# What tools/teach/handout makes its sheets with: the prose of chapters becomes Typst and
# PDF, all files or none; and what is wrong is told in one line.

use strict;
use warnings;
use utf8;
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use Chapter;

my %IS_PAPER = map { $_ => 1 } 'a4', 'us-letter';
my $build = $ENV{BUILD} // 'build';

# However a tool ends, its scratch folders go.
$SIG{$_} = sub { exit 130 } for qw(INT TERM HUP);

sub refuse {
    my ($why) = @_;
    utf8::encode($why) if utf8::is_utf8($why);
    print STDERR "tools/teach/$FindBin::Script: ", $why =~ s/(?: at \S+ line \d+\.?)?\n.*//sr, "\n";
    exit 2;
}

# Runs a command. If that fails, its first line says why.
sub run {
    my (@command) = @_;
    open my $from, '-|:encoding(UTF-8)', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command or die "sh: $!\n";
    my @said = <$from>;
    return join '', @said if close $from;
    die "$command[0] cannot be run: make $build/pandoc.found sets up pandoc and typst\n" if $? >> 8 > 125;
    die $said[0] // "$command[0] has failed\n";
}

sub check_paper {
    my ($paper) = @_;
    die "PAPER is '$paper': a4 or us-letter is needed\n" if !$IS_PAPER{$paper};
    return $paper;
}

# A string as Typst writes it.
sub quote { return '"' . ($_[0] =~ s/([\\"])/\\$1/gr) . '"' }

# ------------------------------------------------------- what a chapter says

# What an exercise asks, without hints, and without its number and the function's name.
sub asked {
    my ($chapter, $exercise) = @_;
    my $asked = join "\n", @{$chapter->{lines}}[$exercise->{line} .. $chapter->text_end($exercise) - 1];
    $asked =~ s/^(?::::|\(A hint: ).*//ms;
    $asked =~ s/^\*\*Exercise.*?\):\s+//s;
    $asked =~ s/^`\w+`\.\s+// if $exercise->{function};
    return $asked =~ s/\s+\z//r;
}

# What each id of the book is called.
sub names {
    my %name;
    for my $chapter (map { Chapter->load($_) } 'book.md', glob 'chapters/*.c') {
        my ($number, $figures) = (($chapter->{number} // '') =~ s/^0//r, 0);
        my $page = $number eq '' ? '' : ($number =~ /^\d/ ? 'chapter' : 'appendix') . " $number";
        for (map { $chapter->{lines}[$_] } $chapter->lines_of('prose')) {
            $name{$1} = 'figure ' . "$number." . ++$figures if /\{#(fig-[\w-]+)/;
            $name{$3} = $page && length $1 == 1 ? $page : join ', ', grep { length } $page, "“$2”"
              if /^(#+) (.*?) \{#([\w-]+)/;
        }
    }
    return %name;
}

# Prose with its references in words: a sheet leads nowhere, and has no list of sources.
sub with_words {
    my ($text, $names) = @_;
    $text =~ s{(\A|[.?!]\s+)?\[\]\(\#([\w-]+)\)}{
        my ($start, $words) = ($1, $names->{$2} // die "[](#$2) leads nowhere\n");
        defined $start ? $start . ucfirst $words : $words;
    }ge;
    return $text =~ s{\s+\[@[^\]]*\]}{}gr;
}

# Markdown as something else.
sub pandoc {
    my ($markdown, @how) = @_;
    my $folder = tempdir(CLEANUP => 1);
    Chapter::save("$folder/sheet.md", $markdown);
    run($ENV{PANDOC} // "$build/pandoc", '--from', 'markdown', @how, '--output', "$folder/made", "$folder/sheet.md");
    open my $made, '<:encoding(UTF-8)', "$folder/made" or die "$folder/made: $!\n";
    local $/;
    return scalar <$made>;
}

# Markdown, with Typst in it, as Typst.
sub converted { return pandoc($_[0], qw(--to typst --wrap=none --lua-filter tools/teach/sheet.lua)) }

# ------------------------------------------------------- sheets

# How a file of sheets begins.
sub begin { return qq{#import "/tools/theme/sheet.typ": *\n#show: sheets.with(title: } . quote($_[0]) . ")\n" }

# Makes the files of a folder from the texts by their names, of Typst as PDF. Returns
# their names.
sub make {
    my ($folder, $paper, %text) = @_;
    make_path($folder);
    my $new = tempdir('part-XXXXXX', DIR => $folder, CLEANUP => 1);
    my @made = eval { _make_in($new, $paper, %text) };
    my $why = $@;
    for (@made) { rename "$new/$_", "$folder/$_" or $why = "$folder/$_: $!\n" }
    remove_tree($new);
    rmdir $folder if !@made;
    die $why if $why;
    return map {"$folder/$_"} @made;
}

sub _make_in {
    my ($folder, $paper, %text) = @_;
    my @made;
    for my $name (sort keys %text) {
        open my $file, '>:encoding(UTF-8)', "$folder/$name" or die "$folder/$name: $!\n";
        print $file $text{$name};
        close $file or die "$folder/$name: $!\n";
        my $pdf = $name =~ s/\.typ$/.pdf/r;
        eval { run('tools/weave/typeset', "$folder/$name", "$folder/$pdf", $paper) if $pdf ne $name; 1 }
          or die "$pdf: ", $@ =~ s/^tools\/weave\/typeset: (?:\Q$folder\E\S+ (?:error: )?)?//r;
        push @made, $pdf;
    }
    return @made;
}

1;
