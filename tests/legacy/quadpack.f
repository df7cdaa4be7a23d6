C@ f2c -a
      SUBROUTINE QK15S(N,A,B,F1,F2,FC,WG,WGK,XGK,RESULT,RESABS)
C     THE 15-POINT RULE OVER MANY INTERVALS, THE VALUES GIVEN
      INTEGER N,I,J
      DOUBLE PRECISION A(*),B(*),F1(7,*),F2(7,*),FC(*),WG(4),WGK(8)
      DOUBLE PRECISION XGK(8),RESULT(*),RESABS(*)
      DOUBLE PRECISION HLGTH,RESG,RESK,FSUM,RABS
C@ begin n=100000
      DO 30 I = 1,N
         HLGTH = 0.5D0*(B(I)-A(I))
         RESG = FC(I)*WG(4)
         RESK = FC(I)*WGK(8)
         RABS = DABS(RESK)
         DO 10 J = 1,7
            FSUM = F1(J,I) + F2(J,I)
            RESK = RESK + WGK(J)*FSUM
            RABS = RABS + WGK(J)*(DABS(F1(J,I))+DABS(F2(J,I)))
   10    CONTINUE
         DO 20 J = 1,3
            RESG = RESG + WG(J)*(F1(2*J,I)+F2(2*J,I))
   20    CONTINUE
         RESULT(I) = RESK*HLGTH + RESG
         RESABS(I) = RABS*DABS(HLGTH)
   30 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE QSORTI(LAST,ELIST,SUM,AMAX)
C     SUM AND LARGEST OF THE ERRORS
      INTEGER LAST,K
      DOUBLE PRECISION ELIST(*),SUM,AMAX
C@ begin last=100000
      SUM = 0.0D0
      AMAX = ELIST(1)
      DO 20 K = 1,LAST
         SUM = SUM + ELIST(K)
         AMAX = DMAX1(AMAX,ELIST(K))
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE QCHEB(X,FVAL,CHEB12,CHEB24)
C     CHEBYSHEV COEFFICIENTS, THEIR FIRST FOLDING
      DOUBLE PRECISION X(11),FVAL(25),CHEB12(13),CHEB24(25),V(12)
      INTEGER I,J
C@ begin
      DO 10 I = 1,12
         J = 26 - I
         V(I) = FVAL(I) - FVAL(J)
         FVAL(I) = FVAL(I) + FVAL(J)
   10 CONTINUE
      DO 20 I = 1,12
         CHEB24(I) = V(I)
   20 CONTINUE
C@ end
      CHEB12(1) = X(1)*V(1)
      RETURN
      END
      SUBROUTINE QWGTC(N,X,C,OMEGA,W)
C     WEIGHTS BY INTRINSIC FUNCTIONS
      INTEGER N,I
      DOUBLE PRECISION X(*),C,OMEGA,W(*)
C@ begin n=1000000
      DO 10 I = 1,N
         W(I) = DCOS(OMEGA*X(I))/(DABS(X(I)-C) + 1.0D0)
     *        + DSIGN(DEXP(-DABS(X(I))),X(I)) + DABS(X(I))**1.5D0
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE QTRAPZ(N,NP,H,F,S)
C     THE TRAPEZOIDAL RULE OF MANY FUNCTIONS
      INTEGER N,NP,I,J
      DOUBLE PRECISION H,F(NP,*),S(*),T
C@ begin n=4096 np=1001
      DO 20 J = 1,N
         T = 0.5D0*(F(1,J) + F(NP,J))
         DO 10 I = 2,NP - 1
            T = T + F(I,J)
   10    CONTINUE
         S(J) = H*T
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE QELG3(N,E)
C     RICHARDSON'S TABLE: EACH COLUMN NEEDS THE ONE BEFORE
      INTEGER N,I,K
      DOUBLE PRECISION E(N,*),P4
C@ begin n=64
      P4 = 1.0D0
      DO 20 K = 2,N
         P4 = P4*4.0D0
         DO 10 I = K,N
            E(I,K) = E(I,K-1) + (E(I,K-1)-E(I-1,K-1))/(P4-1.0D0)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
